//! The relay between a scripted agent and a scripted daemon: every fault that it has to outlive.

mod agent_exit;
mod daemon_loss;
mod fixture;
mod local_replies;
mod pass_through;
