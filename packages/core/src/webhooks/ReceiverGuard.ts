/**
 * Port: which addresses a receiver may have (contract §6 *Receiver addresses*).
 */
import { Context, type Effect } from "effect"
import type { InvalidBody } from "../Errors.ts"

export class ReceiverGuard extends Context.Service<ReceiverGuard, {
  /** Whether the operator allows `http` receivers. */
  readonly allowInsecure: boolean
  /**
   * Refuses a URL whose host is an address, or a name, that is known to be out of bounds. A name that does not
   * resolve yet passes: it is judged again at every connection, by the address actually connected to.
   */
  readonly check: (url: URL) => Effect.Effect<void, InvalidBody>
}>()("@wac/core/webhooks/ReceiverGuard") {}
