/**
 * The schema of recorded events in combined form, which have the same id and body in lists as in deliveries with that
 * envelope.
 *
 * It describes what this version records, for documents, types and tests. Responses are not encoded by it: they have an
 * event as it was recorded, even with fields of an older or newer version or of contents that the provider passed on.
 */
import type { Event } from "@wac/core"
import { Record, Schema, SchemaAST } from "effect"
import * as Example from "../Example.ts"
import * as ExampleValues from "../ExampleValues.ts"
import { Timestamp } from "../Timestamp.ts"
import { EventData } from "./EventData.ts"

const descriptionOf = ({ ast }: Schema.Top) => SchemaAST.resolve(ast)?.["description"] as string

const recorded = (type: Event.EventType) =>
  Schema.Struct({
    id: Schema.String.annotate({
      description: "`evt_…`, the same in lists and in every delivery: deduplicate by it."
    }),
    object: Schema.Literal("event"),
    type: Schema.Literal(type),
    created_at: Timestamp.annotateKey({ description: "When the event was recorded: ISO 8601, UTC." }),
    tenant_id: Schema.String.annotate({ description: "The workspace." }),
    data: EventData[type]
  }).annotate({ identifier: nameOf(type), description: descriptionOf(EventData[type]) }).pipe(Example.shown({
    id: ExampleValues.event,
    object: "event",
    type,
    created_at: ExampleValues.times.recorded,
    tenant_id: ExampleValues.workspace,
    data: Example.of(EventData[type])
  }))

/** The name of a type's schema: `MessageSent` for `message.sent`. */
export const nameOf = (type: Event.EventType): string =>
  type.replaceAll(/(?:^|\.)(\w)/gu, (_, letter: string) => letter.toUpperCase())

/** The schema of each type. */
const byType = Record.map(EventData, (_, type) => recorded(type))

/** An example of an event of a type. */
export const exampleOf = <Type extends Event.EventType>(type: Type) => Example.of(byType[type])

/** An event of any type. */
export const RecordedEvent = Schema.Union(Object.values(byType)).annotate({
  identifier: "Event",
  description:
    "A recorded event. A comparison of `type` narrows `data`. A service newer than this version can have newer " +
    "types: give a `switch` a `default`."
}).pipe(Example.shown(exampleOf("message.delivered")))
