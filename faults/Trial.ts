/**
 * One fault that happens to an installation of its own while callers send, and what came of it.
 */
import { check, type Verdict } from "@wac/checker"
import type { Fault } from "./Fault.ts"
import type { Send } from "./Load.ts"
import * as Stage from "./Stage.ts"
import { holds, now, pass, within } from "./Time.ts"

/** What came of a fault. */
export interface Outcome {
  readonly fault: Fault
  /** Messages that callers asked for. */
  readonly sends: number
  /** Messages that were accepted, and that the provider never got or whose events did not arrive. */
  readonly lost: ReadonlyArray<string>
  /** Messages that the provider accepted more than once. */
  readonly doubled: ReadonlyArray<string>
  /** Answers that were marked as replayed. */
  readonly replayed: number
  /** Events that came again, with the same id, after the receiver had taken them. */
  readonly repeated: number
  /** Messages of which the caller was told that their outcome is not known, at the end of the run. */
  readonly unknown: ReadonlyArray<string>
  /** Messages that were refused for good, and callers who have no answer at the end. */
  readonly refused: ReadonlyArray<string>
  /**
   * In seconds, from the end of the fault until each process accepts sends and everything that was sent before has
   * arrived at the receiver; undefined if that did not come.
   */
  readonly recovery: number | undefined
  readonly broken: Verdict["broken"]
}

/** Whether a fault did no harm that the contract forbids. */
export const isKept = ({ broken, doubled, lost, recovery, refused }: Outcome): boolean =>
  broken.length + doubled.length + lost.length + refused.length === 0 && recovery !== undefined

/** Each accepted message comes with so many events: that it was sent, and that it was delivered. */
const due = 2

/** Until this many messages were accepted and have arrived, nothing happens to the installation. */
const warm = 16

/** How long recovery, and the end of what was begun, may take by default, in milliseconds. */
const defaultPatience = 120_000

const told = ({ first, key, last, to, tries }: Send): string => `${to} (${key}, ${first}): ${tries} tries, last ${last}`

const isUnknown = ({ last, messageId }: Send): boolean =>
  messageId === undefined && last.startsWith("504 outcome_unknown")

/** Lets a fault happen for so many seconds. */
export const run = async (fault: Fault, seconds: number, patience = defaultPatience): Promise<Outcome> => {
  const stage = await Stage.start(fault.setting)
  try {
    return await observe(stage, fault, seconds, patience)
  } finally {
    await stage.close()
  }
}

const observe = async (
  stage: Stage.Stage,
  fault: Fault,
  seconds: number,
  patience: number
): Promise<Outcome> => {
  const { load, processes, provider, receiver, recorder } = stage
  const hasArrived = ({ messageId }: Send) => messageId !== undefined && receiver.count(messageId) >= due
  const isWarm = await holds(patience, () => load.sends.filter(hasArrived).length >= warm)
  if (!isWarm) throw new Error(`the installation did not work before the fault: ${load.sends.slice(0, 3).map(told)}`)

  const end = await fault.begin(stage)
  await pass(seconds * 1000)
  await within(patience, end())
  const endedAt = now()

  /** Messages that were accepted for a later answer, and of which the service says how they ended. */
  const ends = new Map<Send, string>()
  const isOver = async (send: Send): Promise<boolean> => {
    if (hasArrived(send) || isUnknown(send) || send.isRefused === true || ends.has(send)) return true
    if (send.messageId === undefined) return false
    const status = await stage.status(send.messageId).catch(() => "")
    if (status === "unknown" || status === "failed") ends.set(send, status)
    return ends.has(send)
  }
  const areOver = async (sends: ReadonlyArray<Send>): Promise<boolean> => {
    for (const send of sends) {
      if (!(await isOver(send))) return false
    }
    return true
  }
  const isServed = (name: string) =>
    load.sends.some(({ begun, first, messageId, tries }) =>
      begun >= endedAt && first === name && tries === 1 && messageId !== undefined
    )
  const hasRecovered = await holds(
    patience,
    async () =>
      processes.every(({ name }) => isServed(name)) && await areOver(load.sends.filter(({ begun }) => begun < endedAt))
  )
  const recovery = hasRecovered ? (now() - endedAt) / 1000 : undefined

  load.halt()
  await holds(patience, () => areOver(load.sends))
  const unknown = load.sends.filter((send) => !hasArrived(send) && (isUnknown(send) || ends.get(send) === "unknown"))
  await stage.listEvents()
  const settledAt = now()

  const accepted = await provider.accepted()
  const hasEnded = (send: Send) => hasArrived(send) || unknown.includes(send) || send.isRefused === true
  const lost = load.sends.filter((send) =>
    send.messageId !== undefined && !unknown.includes(send) && (accepted(send.to) === 0 || !hasArrived(send))
  )
  const isSettled = load.sends.every(hasEnded) && unknown.length === 0
  const { broken } = check({
    header: { format: "wac-history", version: 1, settled_at: isSettled ? settledAt : null },
    entries: recorder.entries
  })
  return {
    fault,
    sends: load.sends.length,
    lost: lost.map((send) => `${told(send)}, ${ends.get(send) ?? "not all of its events arrived"}`),
    doubled: load.sends.filter(({ to }) => accepted(to) > 1).map(told),
    replayed: load.sends.reduce((sum, { replayed }) => sum + replayed, 0),
    repeated: receiver.repeated(),
    unknown: unknown.map(told),
    refused: load.sends.filter((send) => send.messageId === undefined && !unknown.includes(send)).map(told),
    recovery,
    broken
  }
}
