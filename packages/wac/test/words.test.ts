/**
 * The façade's types may not name another of our packages, so they repeat lists of the core and the API: statuses,
 * event types, reasons. The type checker proves the copies equal (`npm run check -- types`).
 */
import type { ErrorBody } from "@wac/api"
import type {
  ApiScope,
  Delivery,
  Errors,
  Event,
  Member,
  Message,
  PhoneNumbers,
  Replay,
  SenderBlock,
  Template,
  TemplateDraft
} from "@wac/core"
import { expectTypeOf, it } from "vitest"
import type * as Wac from "../src/index.ts"

type ReasonsOf<Code extends Errors.DomainError["code"]> = NonNullable<
  Extract<Errors.DomainError, { readonly code: Code; readonly reason?: string }>["reason"]
>

it("statuses equal the core's", () => {
  expectTypeOf<Wac.MessageStatus>().toEqualTypeOf<Message.MessageStatus>()
  expectTypeOf<Wac.NewMessage["type"]>().toEqualTypeOf<Message.MessageType>()
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

it("events and envelopes equal the core's", () => {
  expectTypeOf<Wac.EventType>().toEqualTypeOf<Event.EventType>()
  expectTypeOf<Wac.Envelope>().toEqualTypeOf<Event.Envelope>()
})

it("error codes and reasons equal the core's, except for the handshake, which only HTTP has", () => {
  expectTypeOf<Wac.ErrorCode>().toEqualTypeOf<Errors.DomainError["code"]>()
  expectTypeOf<Wac.ErrorCode>().toEqualTypeOf<ErrorBody.ErrorBody["error"]["code"]>()
  type Own = { readonly [Code in Errors.DomainError["code"]]: Exclude<ReasonsOf<Code>, "failed_handshake"> }
  expectTypeOf<Wac.ErrorReasons>().toEqualTypeOf<Own>()
})
