//! A key of a cluster of etcd.

use super::{Bare, Writing};
use crate::Fault;
use etcd_client::{Client, Compare, CompareOp, Txn, TxnOp};

const KEY: &str = "bare";

struct Key {
    client: Client,
    count: u64,
}

pub(super) async fn key(address: &str) -> Result<Box<dyn Bare>, Fault> {
    let mut client = Client::connect([address], None).await?;
    client.put(KEY, "0", None).await?;
    Ok(Box::new(Key { client, count: 0 }))
}

impl Bare for Key {
    fn write(&mut self) -> Writing<'_> {
        Box::pin(async {
            self.count += 1;
            self.client.put(KEY, self.count.to_string(), None).await?;
            Ok(())
        })
    }

    fn transaction(&mut self) -> Writing<'_> {
        Box::pin(async {
            let read = self.client.get(KEY, None).await?;
            let row = read.kvs().first().ok_or("the key is gone")?;
            let next = row.value_str()?.parse::<u64>()? + 1;
            let is_same = Compare::mod_revision(KEY, CompareOp::Equal, row.mod_revision());
            let write = Txn::new().when([is_same]).and_then([TxnOp::put(KEY, next.to_string(), None)]);
            let is_done = self.client.txn(write).await?.succeeded();
            self.count = next;
            if is_done { Ok(()) } else { Err("somebody else wrote the key".into()) }
        })
    }
}
