//! A node of an ensemble of ZooKeeper.

use super::{Bare, Writing};
use crate::Fault;
use zookeeper_client::{Acls, Client, CreateMode};

const NODE: &str = "/bare";

struct Node {
    client: Client,
    count: u64,
}

pub(super) async fn key(address: &str) -> Result<Box<dyn Bare>, Fault> {
    let client = Client::connect(address).await?;
    client.create(NODE, b"0", &CreateMode::Persistent.with_acls(Acls::anyone_all())).await?;
    Ok(Box::new(Node { client, count: 0 }))
}

impl Bare for Node {
    fn write(&mut self) -> Writing<'_> {
        Box::pin(async {
            self.count += 1;
            self.client.set_data(NODE, self.count.to_string().as_bytes(), None).await?;
            Ok(())
        })
    }

    fn transaction(&mut self) -> Writing<'_> {
        Box::pin(async {
            let (data, stat) = self.client.get_data(NODE).await?;
            self.count = std::str::from_utf8(&data)?.parse::<u64>()? + 1;
            self.client.set_data(NODE, self.count.to_string().as_bytes(), Some(stat.version)).await?;
            Ok(())
        })
    }
}
