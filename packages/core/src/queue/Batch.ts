/**
 * The size and the cost of a batch: messages that one request queues together (contract §15). Pure.
 */

/** The most messages of a batch. */
export const maxMessages = 500

/** How many messages cost one of the workspace's tokens. */
export const messagesPerToken = 50

/** How many of the workspace's tokens a batch of so many messages costs. */
export const costOf = (messages: number): number => Math.ceil(messages / messagesPerToken)
