/**
 * The record of one request to a receiver: phases and their times, address, certificate, response. It is filled as
 * things happen, so that it shows how far an exchange came that was cut off.
 */
import type { Delivery } from "@wac/core"
import { GatheredBytes } from "@wac/verifier/GatheredBytes"
import type { Clock } from "effect"

/** How much of a response's body is read and kept (contract §6). */
export const maxBodyBytes = 16 * 1024

/** The current phase of an exchange: the phases of `Delivery.AttemptTimings`, in their order. */
export type Phase = "lookup" | "connect" | "tls" | "firstByte" | "body"

type Timings = { -readonly [phase in keyof Delivery.AttemptTimings]: Delivery.AttemptTimings[phase] }

const nanosPerMilli = 1_000_000

export class ReceiverExchange {
  /** The current phase, or the phase in which the exchange ended; `null` before the first. */
  phase: Phase | null = null
  /** The durations of the phases that are over. */
  readonly timings: Timings = { lookupMs: null, connectMs: null, tlsMs: null, firstByteMs: null, bodyMs: null }
  /** The IP address connected to, or being tried. */
  address: string | null = null
  /** A description of the receiver's certificate; `null` without one. */
  certificate: string | null = null
  /** Whether the exchange uses a connection that has carried another one before. */
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

  /** Ends the current phase and begins another. */
  enter(phase: Phase): void {
    this.leave()
    this.phase = phase
  }

  /** Ends the current phase. */
  leave(): void {
    const now = this.#clock.monotonicTimeNanosUnsafe()
    if (this.phase !== null) this.timings[`${this.phase}Ms`] = Math.round(Number(now - this.#since) / nanosPerMilli)
    this.#since = now
  }

  /** Adds a piece of the response's body. Returns false once {@link maxBodyBytes} are there. */
  take(chunk: Buffer): boolean {
    this.#body.take(chunk.subarray(0, maxBodyBytes - this.#body.length), maxBodyBytes)
    return this.#body.length < maxBodyBytes
  }

  /** The first {@link maxBodyBytes} of the response's body. */
  get body(): Buffer {
    return Buffer.from(this.#body.all().buffer)
  }

  /** The sum of {@link timings}, in milliseconds. */
  get elapsedMs(): number {
    return Object.values(this.timings).reduce<number>((sum, took) => sum + (took ?? 0), 0)
  }
}
