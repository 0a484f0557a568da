/**
 * The verifier depends on nothing, so it writes out the kinds of events and their envelopes. The type checker holds
 * them equal to those of the core (`npm run check -- types`); the client's are held in `client.test.ts`.
 */
import type { Event } from "@wac/core"
import type * as Verifier from "@wac/verifier"
import { expectTypeOf, it } from "vitest"

it("the verifier has exactly the core's event types and envelopes", () => {
  expectTypeOf<keyof Verifier.EventDataByType>().toEqualTypeOf<Event.EventType>()
  expectTypeOf<Verifier.EventType>().toEqualTypeOf<Event.EventType>()
  expectTypeOf<Verifier.Envelope>().toEqualTypeOf<Event.Envelope>()
})
