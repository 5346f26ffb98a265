//! The paths of nodes.

use crate::space::SpaceId;
use crate::state::ScopeName;

/// The nodes of a store, below one.
#[derive(Debug)]
pub(super) struct Paths(String);

impl Paths {
    pub(super) fn below(path: &str) -> Self {
        Self(path.to_owned())
    }

    /// Those that there must be before anything else.
    pub(super) fn parents(&self) -> [String; 5] {
        ["space", "state", "worker", "scope", "session"].map(|name| format!("{}/{name}", self.0))
    }

    pub(super) fn meta(&self) -> String {
        format!("{}/meta", self.0)
    }

    pub(super) fn names(&self) -> String {
        format!("{}/space", self.0)
    }

    pub(super) fn name(&self, name: &str) -> String {
        format!("{}/space/{name}", self.0)
    }

    pub(super) fn space(&self, name: &str, id: &str) -> String {
        format!("{}/space/{name}/{id}", self.0)
    }

    pub(super) fn state(&self, id: SpaceId) -> String {
        format!("{}/state/{id}", self.0)
    }

    pub(super) fn workers(&self, id: SpaceId) -> String {
        format!("{}/worker/{id}", self.0)
    }

    pub(super) fn worker(&self, id: SpaceId, worker: u64) -> String {
        format!("{}/worker/{id}/{worker}", self.0)
    }

    pub(super) fn scopes(&self, id: SpaceId) -> String {
        format!("{}/scope/{id}", self.0)
    }

    /// Sorted as the names' bytes are, whatever stands in them.
    pub(super) fn scope(&self, id: SpaceId, scope: &ScopeName) -> String {
        format!("{}/scope/{id}/{}", self.0, hex(scope))
    }
}

/// A scope's name as that of a node.
pub(super) fn hex(scope: &ScopeName) -> String {
    scope.as_str().bytes().map(|byte| format!("{byte:02x}")).collect()
}
