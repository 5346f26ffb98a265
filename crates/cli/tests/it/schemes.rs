//! `mintage schemes`, completions and man pages.

use crate::{lines, mintage};

#[test]
fn the_table_has_every_scheme_and_what_tells_them_apart() {
    let text = lines(&["schemes"]).join("\n");
    let json = lines(&["schemes", "--json"]);
    assert_eq!(json.len(), mintage::SCHEMES.len());
    for (scheme, line) in mintage::SCHEMES.iter().zip(json) {
        assert!(text.contains(scheme.name));
        let object: serde_json::Value = serde_json::from_str(&line).unwrap();
        assert_eq!(object["name"], scheme.name);
        for key in ["bits", "sortable", "coordination", "collisions", "leaks", "sql"] {
            assert!(!object[key].is_null(), "{key}");
        }
    }
    let page = lines(&["schemes", "uuid7"]).join("\n");
    assert!(page.contains("unix_ts_ms") && page.contains("sub-millisecond"));
    assert_eq!(mintage(&["schemes", "uuid-v9"]).status.code(), Some(2));
}

#[test]
fn completions_and_man_pages_come_from_the_definitions() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        assert!(lines(&["completions", shell]).len() > 10);
    }
    let folder = std::env::temp_dir().join(format!("mintage-man-{}", std::process::id()));
    std::fs::create_dir(&folder).unwrap();
    assert!(mintage(&["man", folder.to_str().unwrap()]).status.success());
    assert!(folder.join("mintage-inspect.1").exists());
    std::fs::remove_dir_all(&folder).unwrap();
    assert_eq!(mintage(&["man", folder.to_str().unwrap()]).status.code(), Some(3));
}
