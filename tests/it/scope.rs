//! `[scope]`: the default scope of each memory type, and the projects that results name.

use crate::home::{TestHome, contents};
use crate::in_time::OutputInTime;
use serde_json::{Value, json};

#[test]
fn a_configured_default_scope_holds_for_stores_without_one() {
    let home = TestHome::without_model();
    home.configure("[scope]\nsemantic = \"group\"\n");
    let mut agent = home.session_in("shop");
    agent.store("semantic", "The lamp of the shop is green");
    let global =
        json!({"content": "The lamp of the yard is red", "type": "semantic", "scope": "global"});
    agent.store_with(global);
    let mut other = home.session_in("blog");
    assert_eq!(other.recall("lamp"), ["The lamp of the yard is red"]);
    let stats = other.call("memory_stats", json!({})).expect("the call succeeds");
    assert_eq!(stats["default_scopes"]["semantic"], "group", "{stats}");
    let doctor = home.loci(&["doctor"]);
    let doctor = String::from_utf8_lossy(&doctor.stdout);
    assert!(doctor.contains("default scopes: ") && doctor.contains("semantic group"), "{doctor}");
}

#[test]
fn a_result_of_another_project_names_it_and_an_own_one_does_not() {
    let home = TestHome::without_model();
    home.session_in("shop").store("semantic", "The lamp of the shop is green");
    let mut agent = home.session_in("blog");
    agent.store("semantic", "The lamp of the blog is red");
    let reply = agent.call("recall_memory", json!({"query": "lamp", "summary_only": true}));
    let reply = reply.expect("the call succeeds");
    for result in reply["results"].as_array().expect("a JSON array") {
        let is_own = result["preview"].as_str().is_some_and(|text| text.contains("blog"));
        let expected = if is_own { json!(null) } else { json!("shop") };
        assert_eq!(result["group"], expected, "{reply}");
    }
    let brief = agent.request("resources/read", json!({"uri": "loci://group"})).to_string();
    assert!(brief.contains("is red") && !brief.contains("is green"), "{brief}");
    let mut search = home.command("loci");
    let folder = home.path("blog");
    let found =
        search.current_dir(folder).args(["search", "lamp"]).output_in_time().expect("loci runs");
    let found = String::from_utf8_lossy(&found.stdout).into_owned();
    assert!(found.contains("PROJECT") && found.contains("shop"), "{found}");
}

#[test]
fn a_project_may_have_its_own_default_scope_and_words_to_replace() {
    let home = TestHome::without_model();
    home.configure(
        "[groups.shop]\nscope = \"group\"\nredact = [\"email\"]\nwords = [\"Heron\"]\n[privacy]\nwords = [\"Egret\"]\n",
    );
    let text = "The lamp is green, says anna@example.org of Heron and Egret";
    let mut shop = home.session_in("shop");
    shop.store("semantic", text);
    assert_eq!(
        shop.recall("lamp"),
        ["The lamp is green, says [EMAIL] of [REDACTED] and [REDACTED]"]
    );
    let mut blog = home.session_in("blog");
    assert_eq!(blog.recall("lamp"), [""; 0], "it stays in its project");
    blog.store("semantic", text);
    assert_eq!(
        blog.recall("lamp"),
        ["The lamp is green, says anna@example.org of Heron and [REDACTED]"]
    );
    // A project of that name which another one names has the same rules.
    blog.store_with(
        json!({"content": "The chair of Heron is blue", "type": "semantic", "group": "shop"}),
    );
    assert_eq!(blog.recall("chair"), [""; 0]);
    let found = blog.call("recall_memory", json!({"query": "chair", "group": "shop"}));
    assert_eq!(contents(&found.expect("the call succeeds")), ["The chair of [REDACTED] is blue"]);
}

#[test]
fn a_default_scope_lets_a_global_memory_be_replaced_and_stay_global() {
    for section in ["[scope]\nsemantic", "[groups.shop]\nscope"] {
        let home = TestHome::without_model();
        home.configure(&format!("{section} = \"group\"\n"));
        let mut agent = home.session_in("shop");
        let old = agent.store_with(
            json!({"content": "The lamp is green", "type": "semantic", "scope": "global"}),
        );
        let new =
            json!({"content": "The lamp is red", "type": "semantic", "supersedes": old["id"]});
        let reply = agent.call("store_memory", new).expect("the memory is stored");
        assert_eq!(reply["superseded"], old["id"], "{section}: {reply}");
        assert_eq!(home.session_in("blog").recall("lamp"), ["The lamp is red"], "{section}");
        let refused = json!({"content": "The lamp is blue", "type": "semantic", "supersedes": reply["id"], "scope": "group"});
        let refused = agent.call("store_memory", refused).expect_err("the scope is asked for");
        assert!(refused.contains("names a global memory"), "{refused}");
    }
}

#[test]
fn doctor_names_the_sections_that_apply_to_no_project() {
    let home = TestHome::without_model();
    home.configure("[groups.shop]\nscope = \"group\"\n[groups.shpo]\nwords = [\"Heron\"]\n");
    home.session_in("shop").store("semantic", "The lamp of the shop is green");
    let doctor = home.loci(&["doctor", "--json"]);
    let reply: Value = serde_json::from_slice(&doctor.stdout).expect("JSON");
    let findings = reply["findings"].as_array().expect("a list");
    let finding = findings.iter().find(|one| one["part"] == "config" && one["verdict"] == "warn");
    let finding = finding.unwrap_or_else(|| panic!("no warning: {reply}"));
    assert_eq!(finding["found"], "no project has the id or name of [groups.shpo]");
    assert!(finding["next_step"].as_str().is_some_and(|next| next.contains("loci groups list")));
}

#[test]
fn the_section_of_a_project_is_found_by_its_shown_name_and_its_id_also_for_an_edit() {
    let home = TestHome::without_model();
    let id = home.session_in("barn").store("episodic", "The barn is red");
    let run = |arguments: &[&str]| {
        let output = home.loci(arguments);
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let groups: Value = serde_json::from_str(&run(&["groups", "list", "--json"])).expect("JSON");
    let project = groups["groups"][0]["id"].as_str().expect("an id").to_owned();
    run(&["groups", "rename", &project, "shop"]);
    let sections = [
        ("shop", "The hay is of Heron", "The hay is of [REDACTED]"),
        ("barn", "The cow is of Heron", "The cow is of Heron"),
        (project.as_str(), "The dog is of Heron", "The dog is of [REDACTED]"),
    ];
    for (section, text, stored) in sections {
        home.configure(&format!("[groups.{section}]\nwords = [\"Heron\"]\n"));
        run(&["ctl", "reload"]);
        let mut barn = home.session_in("barn");
        barn.store("episodic", text);
        assert_eq!(barn.recall(&text[4..7]), [stored], "{section}");
    }
    // A person in another project edits the memory of this one.
    run(&["edit", &id, "--group", &project, "--content", "The barn of Heron is blue"]);
    assert_eq!(home.session_in("barn").recall("blue"), ["The barn of [REDACTED] is blue"]);
}
