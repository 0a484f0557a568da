/**
 * What the service said in each step of a night, what became of the messages that were sent in it, and the table of
 * both.
 */
import type { Send } from "./Load.ts"
import type { Night } from "./Night.ts"

/** What became of the sends of a step. */
export interface Ends {
  readonly sent: number
  /** Accepted, and not exactly once at the provider, or without all of its events in order. */
  readonly lost: ReadonlyArray<string>
  readonly doubled: ReadonlyArray<string>
  /** Without an answer that tells the outcome, so that the caller knows that it may have been sent. */
  readonly unknown: ReadonlyArray<string>
}

/** The events that an accepted message brings, in their order. */
const due = 2

const told = ({ key, to, tries }: Send): string => `${to} (${key}): ${tries.slice(-3).join(", ")}`

/** Whether a receiver got the events of a message in their order. */
const isInOrder = (numbers: ReadonlyArray<number>): boolean => numbers.every((number, i) => number === i + 1)

/** Whether a send was accepted, and all of its events arrived by now. */
export const isOver = ({ receiver }: Night, { messageId }: Send): boolean =>
  messageId !== undefined && (receiver.sequences.get(messageId)?.length ?? 0) >= due

/** Whether all that was accepted has all of its events by now. */
export const isDelivered = (night: Night): boolean =>
  night.load.sends.every((send) => send.messageId === undefined || send.isUndone === true || isOver(night, send))

/** Judges the sends of each step. */
export const judge = async ({ accepted, load, receiver }: Night): Promise<ReadonlyMap<string, Ends>> => {
  const steps = new Map<string, { sent: number; lost: Array<string>; doubled: Array<string>; unknown: Array<string> }>()
  for (const send of load.sends) {
    const ends = steps.get(send.step) ?? { sent: 0, lost: [], doubled: [], unknown: [] }
    steps.set(send.step, ends)
    ends.sent++
    const times = await accepted(send.to)
    if (times > 1) ends.doubled.push(`${times} times: ${told(send)}`)
    if (send.messageId === undefined || send.isUndone === true) {
      ends.unknown.push(told(send))
      continue
    }
    const numbers = receiver.sequences.get(send.messageId) ?? []
    if (times === 0) ends.lost.push(`not at the provider: ${told(send)}`)
    else if (numbers.length < due) ends.lost.push(`events ${numbers.join(", ")} alone: ${told(send)}`)
    else if (!isInOrder(numbers)) ends.lost.push(`events in the order ${numbers.join(", ")}: ${told(send)}`)
  }
  return steps
}

/** A table for people. */
export const table = (
  said: ReadonlyMap<string, ReadonlyArray<string>>,
  ends: ReadonlyMap<string, Ends>
): string => {
  const lines = [...new Set([...ends.keys(), ...said.keys()])].map((step) => {
    const words = said.get(step) ?? []
    const { doubled, lost, sent, unknown } = ends.get(step) ?? { sent: 0, lost: [], doubled: [], unknown: [] }
    const counts = `sent ${sent}, lost ${lost.length}, doubled ${doubled.length}, unknown ${unknown.length}`
    return [`${step}: ${counts}`, ...words.map((word) => `    ${word}`)].join("\n")
  })
  return `\n${lines.join("\n")}\n`
}
