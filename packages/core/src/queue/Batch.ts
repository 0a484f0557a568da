/**
 * Batches of messages that are queued together (contract §15). Pure.
 */

/** The most messages of a batch. */
export const maxMessages = 500

/** How many messages cost one of the workspace's tokens. */
export const messagesPerToken = 50

/** The workspace's tokens that a batch costs. */
export const costOf = (messages: number): number => Math.ceil(messages / messagesPerToken)
