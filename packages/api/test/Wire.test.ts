/**
 * The plain types of the client are those of the schemas that the server goes by. The type checker checks it.
 */
import { describe, expectTypeOf, it } from "vitest"
import type * as ErrorBody from "../src/ErrorBody.ts"
import type { RecordedEvent } from "../src/EventsApi.ts"
import type * as MessagesApi from "../src/MessagesApi.ts"
import type * as TemplatesApi from "../src/TemplatesApi.ts"
import type * as Wire from "../src/Wire.ts"

describe("what goes over the wire", () => {
  it("is to the client what it is to the server", () => {
    expectTypeOf<Wire.SendMessage>().toEqualTypeOf<typeof MessagesApi.SendMessage.Encoded>()
    expectTypeOf<Wire.SentMessage>().toEqualTypeOf<typeof MessagesApi.SentMessage.Encoded>()
    expectTypeOf<Wire.Message>().toEqualTypeOf<typeof MessagesApi.StoredMessage.Encoded>()
    expectTypeOf<Wire.Template>().toEqualTypeOf<typeof TemplatesApi.Template.Encoded>()
    expectTypeOf<Wire.Event>().toEqualTypeOf<typeof RecordedEvent.Encoded>()
    expectTypeOf<Wire.ErrorBody>().toEqualTypeOf<typeof ErrorBody.ErrorBody.Encoded>()
  })
})
