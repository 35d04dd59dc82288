CREATE TABLE `announcements` (
	`key` integer PRIMARY KEY NOT NULL,
	`run` integer NOT NULL,
	`path` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `announcements_by_run` ON `announcements` (`run`,`path`);--> statement-breakpoint
CREATE TABLE `blobs` (
	`key` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`hash` blob NOT NULL,
	`size` integer NOT NULL,
	`encoding` text NOT NULL,
	`data` blob NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `blobs_by_hash` ON `blobs` (`hash`);--> statement-breakpoint
CREATE TABLE `branches` (
	`key` integer PRIMARY KEY NOT NULL,
	`conversation` integer NOT NULL,
	`name` text NOT NULL,
	`head` integer,
	`created_at_ms` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `branches_by_name` ON `branches` (`conversation`,`name`);--> statement-breakpoint
CREATE TABLE `conversations` (
	`key` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`scope` text NOT NULL,
	`id` text NOT NULL,
	`title` text,
	`metadata` text NOT NULL,
	`workspace` integer,
	`active_branch` text NOT NULL,
	`rewind_count` integer NOT NULL,
	`created_at_ms` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `conversations_by_id` ON `conversations` (`scope`,`id`);--> statement-breakpoint
CREATE INDEX `conversations_by_workspace` ON `conversations` (`workspace`);--> statement-breakpoint
CREATE TABLE `intents` (
	`key` integer PRIMARY KEY NOT NULL,
	`workspace` integer NOT NULL,
	`conversation` integer NOT NULL,
	`token` text NOT NULL,
	`started_at_ms` integer NOT NULL,
	`intent` text NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `intents_one_a_workspace` ON `intents` (`workspace`);--> statement-breakpoint
CREATE UNIQUE INDEX `intents_one_a_conversation` ON `intents` (`conversation`);--> statement-breakpoint
CREATE TABLE `links` (
	`key` integer PRIMARY KEY NOT NULL,
	`conversation` integer NOT NULL,
	`link` text NOT NULL,
	`from_node` integer NOT NULL,
	`to_node` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `links_by_conversation` ON `links` (`conversation`);--> statement-breakpoint
CREATE TABLE `log_rows` (
	`number` integer PRIMARY KEY NOT NULL,
	`workspace` integer NOT NULL,
	`path` integer NOT NULL,
	`before_kind` text NOT NULL,
	`before_blob` integer,
	`before_mode` integer,
	`before_detail` text,
	`after_kind` text NOT NULL,
	`after_blob` integer,
	`after_mode` integer,
	`after_detail` text,
	`owner` text NOT NULL,
	`run` integer,
	`tool_call_id` text,
	`operation` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `log_rows_by_path` ON `log_rows` (`path`);--> statement-breakpoint
CREATE INDEX `log_rows_by_run` ON `log_rows` (`run`);--> statement-breakpoint
CREATE INDEX `log_rows_by_operation` ON `log_rows` (`operation`);--> statement-breakpoint
CREATE INDEX `log_rows_by_before` ON `log_rows` (`before_blob`);--> statement-breakpoint
CREATE INDEX `log_rows_by_after` ON `log_rows` (`after_blob`);--> statement-breakpoint
CREATE TABLE `log_shares` (
	`key` integer PRIMARY KEY NOT NULL,
	`row` integer NOT NULL,
	`run` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `log_shares_by_row` ON `log_shares` (`row`);--> statement-breakpoint
CREATE INDEX `log_shares_by_run` ON `log_shares` (`run`);--> statement-breakpoint
CREATE TABLE `node_blobs` (
	`key` integer PRIMARY KEY NOT NULL,
	`node` integer NOT NULL,
	`blob` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `node_blobs_by_node` ON `node_blobs` (`node`);--> statement-breakpoint
CREATE INDEX `node_blobs_by_blob` ON `node_blobs` (`blob`);--> statement-breakpoint
CREATE TABLE `nodes` (
	`key` integer PRIMARY KEY NOT NULL,
	`conversation` integer NOT NULL,
	`id` text NOT NULL,
	`run` integer,
	`role` text NOT NULL,
	`synthetic` integer NOT NULL,
	`created_at_ms` integer NOT NULL,
	`position` integer,
	`operation` integer NOT NULL,
	`body` text NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `nodes_by_id` ON `nodes` (`conversation`,`id`);--> statement-breakpoint
CREATE TABLE `operations` (
	`number` integer PRIMARY KEY NOT NULL,
	`conversation` integer,
	`workspace` integer,
	`kind` text NOT NULL,
	`author` text NOT NULL,
	`at_ms` integer NOT NULL,
	`summary` text NOT NULL
);
--> statement-breakpoint
CREATE INDEX `operations_by_conversation` ON `operations` (`conversation`);--> statement-breakpoint
CREATE INDEX `operations_that_move` ON `operations` (`conversation`) WHERE kind in ('rewind', 'switch', 'resume', 'undo', 'redo', 'turn');--> statement-breakpoint
CREATE TABLE `paths` (
	`key` integer PRIMARY KEY NOT NULL,
	`workspace` integer NOT NULL,
	`path` text NOT NULL,
	`kind` text NOT NULL,
	`blob` integer,
	`mode` integer,
	`detail` text,
	`stat` text,
	`announced` integer NOT NULL,
	`sequence` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `paths_by_path` ON `paths` (`workspace`,`path`);--> statement-breakpoint
CREATE INDEX `paths_by_sequence` ON `paths` (`workspace`,`sequence`);--> statement-breakpoint
CREATE INDEX `paths_by_blob` ON `paths` (`blob`);--> statement-breakpoint
CREATE TABLE `requests` (
	`key` integer PRIMARY KEY NOT NULL,
	`conversation` integer NOT NULL,
	`id` text NOT NULL,
	`fingerprint` text NOT NULL,
	`result` text NOT NULL,
	`operation` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `requests_by_id` ON `requests` (`conversation`,`id`);--> statement-breakpoint
CREATE TABLE `runs` (
	`run` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`conversation` integer NOT NULL,
	`workspace` integer,
	`first_key` integer NOT NULL,
	`user_key` integer NOT NULL,
	`last_key` integer,
	`status` text NOT NULL,
	`holder` text NOT NULL,
	`lease_ms` integer NOT NULL,
	`started_at_ms` integer NOT NULL,
	`heartbeat_at_ms` integer NOT NULL,
	`ended_at_ms` integer,
	`found` integer,
	`left` integer,
	`usage` text,
	`error` text,
	`report` text,
	`cancel_requested` text,
	`rows_of` integer
);
--> statement-breakpoint
CREATE UNIQUE INDEX `runs_one_live` ON `runs` (`conversation`) WHERE status = 'running';--> statement-breakpoint
CREATE INDEX `runs_live_in_workspace` ON `runs` (`workspace`) WHERE status = 'running';--> statement-breakpoint
CREATE INDEX `runs_by_conversation` ON `runs` (`conversation`);--> statement-breakpoint
CREATE INDEX `runs_by_first_key` ON `runs` (`first_key`);--> statement-breakpoint
CREATE TABLE `segments` (
	`segment` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`conversation` integer NOT NULL,
	`parent` integer,
	`caller` integer,
	`depth` integer NOT NULL,
	`mark` integer
);
--> statement-breakpoint
CREATE INDEX `segments_by_conversation` ON `segments` (`conversation`);--> statement-breakpoint
CREATE TABLE `windows` (
	`key` integer PRIMARY KEY NOT NULL,
	`run` integer NOT NULL,
	`tool_call_id` text NOT NULL,
	`opened` integer NOT NULL,
	`closed` integer
);
--> statement-breakpoint
CREATE INDEX `windows_by_run` ON `windows` (`run`);--> statement-breakpoint
CREATE TABLE `workspaces` (
	`key` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`root` text NOT NULL,
	`machine` text NOT NULL,
	`device` text NOT NULL,
	`inode` text NOT NULL,
	`options` text NOT NULL,
	`sequence` integer NOT NULL,
	`synced_at_ms` integer,
	`rules` text,
	`log_number` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `workspaces_by_identity` ON `workspaces` (`root`,`machine`,`device`,`inode`);