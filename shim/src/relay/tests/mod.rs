//! Tests of the relay between a scripted agent and a scripted daemon, with every fault that it must survive.

mod agent_exit;
mod daemon_loss;
mod fixture;
mod local_replies;
mod pass_through;
