/**
 * Port: decides which URLs a receiver may have (contract §6 *Receiver addresses*).
 */
import { Context, type Effect } from "effect"
import type { InvalidBody } from "../Errors.ts"

export class ReceiverGuard extends Context.Service<ReceiverGuard, {
  /** Whether the operator allows `http` receivers. */
  readonly allowInsecure: boolean
  /**
   * Refuses a URL whose host is a forbidden address or name. A name that does not resolve yet passes: every connection
   * checks the address that it actually uses.
   */
  readonly check: (url: URL) => Effect.Effect<void, InvalidBody>
}>()("@wac/core/webhooks/ReceiverGuard") {}
