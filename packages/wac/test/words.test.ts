/**
 * The façade's types may not name another of our packages, so they repeat lists of the core and the API: statuses,
 * event types. The type checker proves the copies equal (`npm run check -- types`).
 */
import type {
  ApiScope,
  Delivery,
  Event,
  Member,
  Message,
  PhoneNumbers,
  Replay,
  SenderBlock,
  Template,
  TemplateDraft
} from "@wac/core"
import type { ReceivedContentByType } from "@wac/verifier"
import { expectTypeOf, it } from "vitest"
import type * as Wac from "../src/index.ts"

it("statuses equal the core's", () => {
  expectTypeOf<Wac.Message["type"]>().toEqualTypeOf<Message.MessageType>()
  expectTypeOf<Wac.OutboundMessage["type"]>().toEqualTypeOf<Message.MessageType>()
  expectTypeOf<Wac.StatusReport["status"]>().toEqualTypeOf<Message.Report["status"]>()
  expectTypeOf<Wac.DeliveryStatus>().toEqualTypeOf<Delivery.DeliveryStatus>()
  expectTypeOf<Wac.Attempt["outcome"]>().toEqualTypeOf<Delivery.AttemptOutcome>()
  expectTypeOf<Wac.Attempt["trigger"]>().toEqualTypeOf<Delivery.AttemptTrigger>()
  expectTypeOf<Wac.Replay["state"]>().toEqualTypeOf<Replay.ReplayState>()
  expectTypeOf<Wac.Replay["status"]>().toEqualTypeOf<Replay.ReplayedStatus | null>()
  expectTypeOf<Wac.PhoneNumber["status"]>().toEqualTypeOf<PhoneNumbers.NumberStatus>()
  expectTypeOf<NonNullable<Wac.PhoneNumber["block"]>["reason"]>().toEqualTypeOf<SenderBlock.SenderBlockReason>()
  expectTypeOf<NonNullable<Wac.PhoneNumber["block"]>["scope"]>().toEqualTypeOf<SenderBlock.SenderBlockScope>()
  expectTypeOf<Wac.Template["parameterFormat"]>().toEqualTypeOf<Template.ParameterFormat>()
  expectTypeOf<Wac.TemplateComponent>().toEqualTypeOf<TemplateDraft.Component>()
  expectTypeOf<Wac.TemplateEdit>().toEqualTypeOf<TemplateDraft.TemplateEdit>()
  expectTypeOf<Wac.TemplateCategory>().toEqualTypeOf<TemplateDraft.Category>()
  expectTypeOf<NonNullable<Wac.ProviderTemplate["parameterFormat"]>>().toEqualTypeOf<Template.ParameterFormat>()
  expectTypeOf<Wac.Role>().toEqualTypeOf<Member.Role>()
  expectTypeOf<Wac.ApiKey["scopes"][number]>().toEqualTypeOf<ApiScope.ApiScope>()
  expectTypeOf<NonNullable<Wac.NewApiKey["scopes"]>[number]>().toEqualTypeOf<ApiScope.ApiScope>()
})

it("events and envelopes equal the core's, and received contents equal the verifier's", () => {
  expectTypeOf<Wac.EventType>().toEqualTypeOf<Event.EventType>()
  expectTypeOf<Wac.Envelope>().toEqualTypeOf<Event.Envelope>()
  expectTypeOf<keyof Wac.ReceivedContent>().toEqualTypeOf<keyof ReceivedContentByType>()
})
