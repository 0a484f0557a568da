/**
 * The SQL functions that mirror pure functions of core, each compared with what it mirrors over every kind of input.
 */
import { PgClient } from "@effect/sql-pg"
import { assert, layer } from "@effect/vitest"
import { Event, type Id, Idempotency, Message, Time } from "@wac/core"
import { Effect } from "effect"
import { databases } from "./servers.ts"

const now = Date.parse("2026-03-01T00:00:00.000Z")

/** Evaluates an expression over the fields of each case. */
const evaluate = <Answer>(expression: string, columns: string, cases: ReadonlyArray<object>) =>
  Effect.map(
    PgClient.PgClient.use((client) =>
      client.unsafe<{ readonly answers: ReadonlyArray<Answer> }>(
        `select json_agg(${expression} order by e.place) as answers
        from json_array_elements($1::text::json) with ordinality as e (value, place),
          json_to_record(e.value) as c (${columns})`,
        [JSON.stringify(cases)]
      )
    ),
    ([row]) => row!.answers
  )

/** Every combination of one value of each field. */
const combinations = <A extends object>(
  fields: { readonly [K in keyof A]: ReadonlyArray<A[K]> }
): ReadonlyArray<A> =>
  Object.entries<ReadonlyArray<unknown>>(fields).reduce<ReadonlyArray<object>>(
    (all, [name, values]) => all.flatMap((one) => values.map((value) => ({ ...one, [name]: value }))),
    [{}]
  ) as ReadonlyArray<A>

const providerError: Message.MessageError = {
  code: "invalid_body",
  reason: "undeliverable",
  message: "“no” \u0000 \ud800",
  provider: { code: "131026", message: "é" }
}

const failures = [null, providerError, Message.deliveryUnknown]

/** What is told of a message's life so far. */
interface Life {
  readonly status: Message.MessageStatus
  readonly error: Message.MessageError | null
  readonly providerMessageId: string | null
  readonly sentAt: number | null
  readonly deliveredAt: number | null
  readonly readAt: number | null
  readonly clientReference: string | undefined
  readonly sequence: number
}

const lives = combinations<Life>({
  status: ["queued", "sending", "unknown", "sent", "delivered", "read", "failed"],
  error: failures,
  providerMessageId: [null, "wamid.one"],
  sentAt: [null, now - 5],
  deliveredAt: [null, now - 4],
  readAt: [null, now - 3],
  clientReference: [undefined, "“7”\n\u{1F4E6}"],
  sequence: [0, 2]
}).filter(({ error, status }) => status === "failed" || error === null)

/** Whether it can be stored: what has come to a step has its time. */
const isPossible = ({ deliveredAt, readAt, sentAt, status }: Life): boolean =>
  status === "sent"
    ? sentAt !== null
    : status === "delivered"
    ? deliveredAt !== null
    : status !== "read" || readAt !== null

const messageOf = ({ clientReference, ...life }: Life): Message.Message => ({
  id: "msg_01" as Id.MessageId,
  workspaceId: "ws_01" as Id.WorkspaceId,
  apiKeyId: "key_01" as Id.ApiKeyId,
  phoneNumberId: "pn_01" as Id.PhoneNumberId,
  from: "+14155550000",
  content: {
    type: "text",
    to: "+12025550001",
    text: { body: "…" },
    ...(clientReference === undefined ? {} : { clientReference })
  },
  statusAt: now - 10,
  createdAt: now - 20,
  failedAt: life.status === "failed" ? now - 9 : null,
  ...life
})

/** The row of a message. */
const rowOf = (message: Message.Message) => ({
  id: message.id,
  workspace_id: message.workspaceId,
  api_key_id: message.apiKeyId,
  phone_number_id: message.phoneNumberId,
  from_number: message.from,
  content: message.content,
  status: message.status,
  status_at: message.statusAt,
  provider_message_id: message.providerMessageId,
  created_at: message.createdAt,
  sent_at: message.sentAt,
  delivered_at: message.deliveredAt,
  read_at: message.readAt,
  failed_at: message.failedAt,
  delivery_unknown: Message.isDeliveryUnknown(message),
  sequence: message.sequence,
  quota_month: "2026-02"
})

const text = (value: unknown) => value === null ? null : JSON.stringify(value)

const message = "json_populate_record(null::messages, c.message)"

for (const { layer: database, name } of databases) {
  layer(database, { excludeTestServices: true })(name, (it) => {
    it.effect("wac_apply_reports is Message.apply with Event.ofTransitions", () =>
      Effect.gen(function*() {
        const client = yield* PgClient.PgClient
        const reports = combinations<Message.Report>({
          status: ["sent", "delivered", "read", "failed"],
          at: [now - 100],
          providerMessageId: [null, "wamid.one", "wamid.two"],
          error: failures
        }).filter(({ error, status }) => status === "failed" || error === null)
        const cases = lives.filter(isPossible).flatMap((life) => reports.map((report) => ({ life, report }))).map((
          { life, report },
          i
        ) => ({
          before: { ...messageOf(life), id: `msg_${String(i).padStart(6, "0")}` as Id.MessageId },
          report,
          ids: [1, 2, 3].map((step) => `evt_${i}_${step}` as Id.EventId)
        }))
        const stored = JSON.stringify(cases.map(({ before }) => rowOf(before)))
        const columns = Object.keys(rowOf(cases[0]!.before)).join(", ")
        yield* client.unsafe(
          `insert into messages (${columns}) select ${columns} from json_populate_recordset(null::messages, $1::text::json)`,
          [stored]
        )
        // as text, since it may hold what PostgreSQL cannot read
        yield* client.unsafe(
          `update messages m set error = c.error::json from json_to_recordset($1::text::json) as c (id text, error text)
          where m.id = c.id`,
          [JSON.stringify(cases.map(({ before }) => ({ id: before.id, error: text(before.error) })))]
        )
        const commands = cases.map(({ before, ids, report: { at, error, providerMessageId, status } }) => ({
          now,
          reference: before.id,
          status,
          at,
          provider_message_id: providerMessageId,
          error: text(error),
          concludes: Message.isDeliveryUnknown({ status, error }),
          events: ids,
          deliveries: ["dlv_1", "dlv_2", "dlv_3"]
        }))
        for (let first = 0; first < commands.length; first += 256) {
          const batch = commands.slice(first, first + 256)
          yield* client.unsafe("select wac_apply_reports($1::text::json)", [JSON.stringify(batch)])
        }
        const answers = yield* client.unsafe<{
          readonly message: object
          readonly told: ReadonlyArray<object>
        }>(
          `select to_json(m) as message, coalesce(
            (
              select json_agg(
                json_build_object('id', e.id, 'workspaceId', e.workspace_id, 'type', e.type, 'createdAt', e.created_at,
                  'orderKey', e.order_key, 'sequence', e.sequence, 'data', e.data)
                order by e.position
              )
              from events e where e.order_key = m.id
            ),
            '[]'
          ) as told
          from (select ${columns}, error from messages where id like 'msg_0%' order by id) m`,
          []
        )
        assert.strictEqual(answers.length, cases.length)
        cases.forEach(({ before, ids, report }, i) => {
          const moved = Message.apply(before, report, now)
          const { events, message } = Event.ofTransitions(moved.message, moved.transitions, ids, now)
          const { message: row, told } = answers[i]!
          const context = JSON.stringify({ before, report })
          assert.deepStrictEqual(row, { ...rowOf(message), error: message.error }, context)
          assert.deepStrictEqual(told, events, context)
          // to the byte
          const bodies = (event: Event.Event, data: Event.EventData) =>
            Event.Envelope.literals.map((envelope) => Event.body({ ...event, data }, envelope))
          events.forEach((event, step) => {
            const { data } = told[step] as Event.Event
            assert.deepStrictEqual(bodies(event, data), bodies(event, event.data))
          })
        })
      }))

    it.effect("wac_verdict is Idempotency.judge", () =>
      Effect.gen(function*() {
        const answer: Idempotency.Answer = Idempotency.sent(messageOf(lives[0]!), "wamid.answered")
        const claim = (leaseUntil: number) => ({ token: "t", leaseUntil })
        const bindings = combinations<Omit<Idempotency.Binding, "messageId">>({
          fingerprint: ["one", "two"],
          claim: [null, claim(now - 1), claim(now), claim(now + 1)],
          answer: [null, answer],
          lastFailure: [null, answer],
          expiresAt: [null, now - 1, now, now + 1]
        }).filter(({ answer, claim }) => answer === null || claim === null)
        const messages = lives
          .filter(({ clientReference, deliveredAt, readAt, sentAt, sequence }) =>
            clientReference === undefined && sequence === 0 && deliveredAt === null && readAt === null &&
            sentAt === null
          )
          .map(messageOf)
        const cases = [
          { binding: undefined, message: undefined },
          ...bindings.flatMap((binding) =>
            messages.map((message) => ({ binding: { ...binding, messageId: message.id }, message }))
          )
        ]
        const answers = yield* evaluate<Idempotency.Verdict>(
          `(
            select wac_told_verdict(x.m, wac_verdict(x.m, 'one', c.now))
            from (select ${message} as m offset 0) x
          )`,
          "now bigint, message json",
          cases.map(({ binding, message }) => ({
            now,
            message: message === undefined ? {} : {
              ...rowOf(message),
              route: "r",
              key: "k",
              fingerprint: binding?.fingerprint,
              claim_token: binding?.claim?.token,
              lease_until: binding?.claim?.leaseUntil,
              answer: binding?.answer,
              last_failure: binding?.lastFailure,
              expires_at: binding?.expiresAt
            }
          }))
        )
        assert.deepStrictEqual(
          answers,
          cases.map(({ binding, message }) => Idempotency.judge(binding, message, "one", now))
        )
      }))

    it.effect("wac_iso is Time.iso", () =>
      Effect.gen(function*() {
        const times = [
          0,
          -1,
          now - 1,
          now,
          now + 7,
          now + 86_400_000 - 1,
          Date.parse("0001-01-01T00:00:00.000Z"),
          Date.parse("2024-02-29T23:59:59.999Z"),
          Date.parse("9999-12-31T23:59:59.999Z")
        ]
        assert.deepStrictEqual(
          yield* evaluate("wac_iso(c.at)", "at bigint", times.map((at) => ({ at }))),
          times.map(Time.iso)
        )
      }))
  })
}
