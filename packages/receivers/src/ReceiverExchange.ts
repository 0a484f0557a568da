/**
 * One request to a receiver, and what has come of it so far. It is written to as things happen, so that an exchange
 * cut off in the middle can tell how far it came.
 */
import type { Delivery } from "@wac/core"
import { GatheredBytes } from "@wac/verifier/GatheredBytes"
import type { Clock } from "effect"

/** So much of an answer's body is read and kept (contract §6). */
export const maxBodyBytes = 16 * 1024

/** The current phase of an exchange: the phases of `Delivery.AttemptTimings`, in their order. */
export type Phase = "lookup" | "connect" | "tls" | "firstByte" | "body"

type Timings = { -readonly [phase in keyof Delivery.AttemptTimings]: Delivery.AttemptTimings[phase] }

const nanosPerMilli = 1_000_000

export class ReceiverExchange {
  /** The present phase, or the one in which it ended; `null` before the first. */
  phase: Phase | null = null
  /** Of the phases that are over. */
  readonly timings: Timings = { lookupMs: null, connectMs: null, tlsMs: null, firstByteMs: null, bodyMs: null }
  /** The IP address connected to, or being tried. */
  address: string | null = null
  /** A description of the receiver's certificate; `null` without one. */
  certificate: string | null = null
  /** Whether it goes over a connection that has served before. */
  isKept = false
  statusCode: number | null = null
  /** By their lower-case names. */
  headers: ReadonlyMap<string, string> = new Map()

  readonly #clock: Clock.Clock
  readonly #body = new GatheredBytes()
  #since: bigint

  constructor(clock: Clock.Clock) {
    this.#clock = clock
    this.#since = clock.monotonicTimeNanosUnsafe()
  }

  /** Ends the present phase and begins another. */
  enter(phase: Phase): void {
    this.leave()
    this.phase = phase
  }

  /** Ends the present phase. */
  leave(): void {
    const now = this.#clock.monotonicTimeNanosUnsafe()
    if (this.phase !== null) this.timings[`${this.phase}Ms`] = Math.round(Number(now - this.#since) / nanosPerMilli)
    this.#since = now
  }

  /** Takes a piece of the answer's body; false when enough of it is here. */
  take(chunk: Buffer): boolean {
    this.#body.take(chunk.subarray(0, maxBodyBytes - this.#body.length), maxBodyBytes)
    return this.#body.length < maxBodyBytes
  }

  /** The first {@link maxBodyBytes} of the answer's body. */
  get body(): Buffer {
    return Buffer.from(this.#body.all().buffer)
  }

  /** How long the phases that are over took together, in milliseconds. */
  get elapsedMs(): number {
    return Object.values(this.timings).reduce<number>((sum, took) => sum + (took ?? 0), 0)
  }
}
