import { describe, expectTypeOf, it } from "vitest"
import type { EventOf, Json, MessageFailure, UnknownEvent, WebhookEvent } from "../src/index.ts"

// These are checked by the compiler (`npm run check -- types`); at run time nothing is to be seen of them.
describe("an event's type", () => {
  const narrow = (event: WebhookEvent) => {
    switch (event.type) {
      case "message.sent":
        return expectTypeOf(event.data.sent_at).toBeString()
      case "message.delivered":
        expectTypeOf(event).toEqualTypeOf<EventOf<"message.delivered">>()
        expectTypeOf(event.id).toBeString()
        expectTypeOf(event.tenant_id).toBeString()
        return expectTypeOf(event.data.status).toEqualTypeOf<"delivered">()
      case "message.read":
        expectTypeOf(event.data.corrects).toEqualTypeOf<"failed" | undefined>()
        return expectTypeOf(event.data.read_at).toBeString()
      case "message.failed":
        expectTypeOf(event.data.error.reason).toEqualTypeOf<string | undefined>()
        return expectTypeOf(event.data.error).toEqualTypeOf<MessageFailure>()
      case "message.received":
        expectTypeOf(event.data.from).toEqualTypeOf<string>()
        expectTypeOf(event.data.late).toBeBoolean()
        switch (event.data.type) {
          case "text":
            return expectTypeOf(event.data.text.body).toBeString()
          case "location":
            return expectTypeOf(event.data.location.latitude).toBeNumber()
          case "document":
            return expectTypeOf(event.data.document.filename).toEqualTypeOf<string | undefined>()
          case "interactive":
            return event.data.interactive.type === "list_reply"
              ? expectTypeOf(event.data.interactive.list_reply.title).toBeString()
              : undefined
          default:
            return expectTypeOf(event.data.type).toExtend<string>()
        }
      case "message.echoed":
        return expectTypeOf(event.data.sent_at).toBeString()
      case "campaign.completed":
        return expectTypeOf(event.data.campaign_id).toBeString()
      case "webhook.test":
        return expectTypeOf(event.data.tested_at).toBeString()
      default: {
        expectTypeOf(event).toEqualTypeOf<UnknownEvent>()
        expectTypeOf(event.data).toEqualTypeOf<{ readonly [field: string]: Json }>()
        const name: string = event.type
        return name
      }
    }
  }

  it("an event's type narrows the event, and newer types remain usable", () => {
    expectTypeOf(narrow).toBeFunction()
  })

  it("an event type has exactly the fields of its envelope", () => {
    type A = EventOf<"message.delivered", "a">
    type B = EventOf<"message.delivered", "b">
    expectTypeOf<keyof A>().toEqualTypeOf<"id" | "type" | "created_at" | "data">()
    expectTypeOf<keyof A["data"]>().toEqualTypeOf<"message_id" | "to" | "status">()
    expectTypeOf<keyof B>().toEqualTypeOf<"type" | "tenant_id" | "data">()
    expectTypeOf<keyof B["data"]>().toEqualTypeOf<"message_id" | "provider_message_id" | "to" | "delivered_at">()
    const inA = (event: WebhookEvent<"a">) =>
      event.type === "message.received" && event.data.type === "text" ? event.data.text.body : undefined
    expectTypeOf(inA).returns.toEqualTypeOf<string | undefined>()
  })
})
