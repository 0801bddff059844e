//! The relay between a scripted agent and a scripted daemon: every fault that it has to outlive.

mod ending;
mod losing;
mod passing;
mod refusing;
mod scene;
