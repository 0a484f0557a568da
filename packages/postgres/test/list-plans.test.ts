/**
 * What lists of messages and contacts cost on a filled database: a page, whatever else is stored; and with a filter
 * without an index, a bounded scan.
 */
import { PgClient } from "@effect/sql-pg"
import { assert, layer } from "@effect/vitest"
import { type Conversation, type Id, type Message, MessageStore as Port, Page } from "@wac/core"
import { Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import * as ContactStore from "../src/contacts/ContactStore.ts"
import { walks } from "../src/contacts/CustomerStore.ts"
import * as Conversations from "../src/messages/Conversations.ts"
import * as MessageStore from "../src/messages/MessageStore.ts"
import type { Statement } from "../src/Statement.ts"
import { carryOutAll } from "./carryOut.ts"
import { plannedDatabases } from "./servers.ts"
import { touched, touchedBy } from "./touched.ts"

const id = (prefix: string, n: number) => `${prefix}_${String(n).padStart(26, "0")}`
const sqlId = (prefix: string, n: string) => `'${prefix}_' || lpad((${n})::text, 26, '0')`

/** In the third workspace. Nobody has started one of them, and none has messages. */
const campaigns = 2000
const unstarted = 1

/** In the first workspace, where every 7,000th has failed. The second has one message for each thousand. */
const messages = 25_000
const contacts = 5000

/** The ids of messages that the third workspace received begin after this number. */
const received = 1000 * messages * 2

const own = id("ws", 1) as Id.WorkspaceId
const other = id("ws", 2) as Id.WorkspaceId
const third = id("ws", 3) as Id.WorkspaceId

const message = (count: number, first: number, workspace: string) =>
  `insert into wac.messages (id, workspace_id, api_key_id, phone_number_id, from_number, content, status, status_at, created_at,
    sent_at, failed_at)
  select ${sqlId("msg", `${first} + i * 1000`)}, '${workspace}', 'key', 'pn', '+14155550000',
    json_build_object('type', 'text', 'to', '+1202' || i, 'text', json_build_object('body', repeat('x', 200)),
      'clientReference', 'order-' || i / 10),
    case when i % 7000 = 0 then 'failed' when i = 1 then 'unknown' else 'sent' end, 1, 1, 1,
    case when i % 7000 = 0 then 1 end
  from generate_series(1, ${count}) i`

const fill = [
  `insert into wac.workspaces (id, name, created_at) select ${sqlId("ws", "i")}, 'one', 0 from generate_series(1, 3) i`,
  `insert into wac.phone_numbers (id, workspace_id, provider, phone_number, provider_number_id, provider_account_id)
  select ${sqlId("pn", "i")}, ${
    sqlId("ws", "1 + i / 4")
  }, 'sandbox', '+1415' || i, 'p' || i, 'a' from generate_series(1, 4) i`,
  `insert into wac.campaigns (id, workspace_id, state) select ${sqlId("cmp", "i")}, '${third}', json_build_object(
    'status', case when i <= ${unstarted} then 'draft' else 'completed' end,
    'startedAt', case when i > ${unstarted} then 1 end, 'name', repeat('x', 1000)
  ) from generate_series(1, ${campaigns}) i`,
  message(messages, 0, own),
  message(messages / 1000, 500, other),
  `insert into wac.conversations (message_id, workspace_id, phone_number_id, customer, is_inbound, received)
  select ${sqlId("msg", "i * 1000")}, '${own}', 'pn', case when i % 2 = 0 then '+1' else '+1202' || i end, i % 4 = 0,
    case when i % 4 = 0 then '{}'::json end
  from generate_series(1, ${messages}) i`,
  // received in the third workspace
  `insert into wac.conversations (message_id, workspace_id, phone_number_id, customer, is_inbound, received)
  select ${
    sqlId("msg", `${received} + i`)
  }, '${third}', 'pn', '+49' || i, true, '{}' from generate_series(1, ${messages}) i`,
  `insert into wac.inbound_messages (workspace_id, phone_number_id, provider_message_id, message_id, expires_at)
  select '${third}', ${sqlId("pn", "1")}, 'wamid ' || i, ${sqlId("msg", `${received} + i`)}, i
  from generate_series(1, ${messages}) i`,
  `insert into wac.contacts (workspace_id, phone_number_id, key, phone)
  select ${sqlId("ws", "1 + n / 4")}, ${sqlId("pn", "n")}, '+1202' || 10000 + i, '+1202' || 10000 + i
  from generate_series(1, 4) n, generate_series(1, case when n = 4 then 3 else ${contacts} end) i`
]

for (const { layer: database, name } of plannedDatabases) {
  const filled = Layer.effectDiscard(Effect.gen(function*() {
    const client = yield* PgClient.PgClient
    yield* client.withTransaction(Effect.gen(function*() {
      yield* client`set local statement_timeout = 0`
      for (const statement of fill) yield* client.unsafe(statement)
    }))
    for (const table of ["messages", "contacts", "conversations", "inbound_messages", "campaigns"]) {
      yield* client`vacuum (analyze) wac.${client(table)}`
    }
  }))

  const stores = MessageStore.layer.pipe(Layer.provide(SecureRandom.layerWebCrypto))

  layer(stores.pipe(Layer.provideMerge(filled), Layer.provideMerge(database)), {
    excludeTestServices: true
  })(name, (it) => {
    /** The rows that a statement reads of a table, which it must not scan. */
    const reads = (table: string, statement: Statement) =>
      Effect.map(touched(statement), (tables) => {
        assert.strictEqual(tables(table).scans, 0, `${table} was read from end to end`)
        return tables(table).read
      })

    const listed = (workspace: Id.WorkspaceId, after: string | null, filter: Port.MessageFilter = {}) =>
      reads("messages", MessageStore.list(workspace, filter, { limit: 25, after }))

    it.effect("a page of messages costs a page, wherever it begins and whatever other workspaces have", () =>
      Effect.gen(function*() {
        assert.isAtMost(yield* listed(own, null), 26)
        assert.isAtMost(yield* listed(own, id("msg", 1000 * messages / 2)), 26)
        assert.isAtMost(yield* listed(own, id("msg", 3000)), 2)
        assert.isAtMost(yield* listed(other, null), messages / 1000)
        assert.isAtMost(yield* listed(third, null), 0)
      }))

    it.effect("a page of messages reads of campaigns only those that nobody has started", () =>
      Effect.gen(function*() {
        const list = MessageStore.list(third, { status: "queued" }, { limit: 25, after: null })
        assert.isAtMost(yield* reads("campaigns", list), 2 * unstarted)
      }))

    it.effect("a page by a client's reference, or by time, costs a page", () =>
      Effect.gen(function*() {
        assert.isAtMost(yield* listed(own, null, { clientReference: "order-1234" }), 10)
        assert.isAtMost(yield* listed(own, id("msg", 1000 * 12_345), { clientReference: "order-1234" }), 10)
        assert.isAtMost(yield* listed(own, null, { clientReference: "none" }), 0)
        // ids begin with the time in milliseconds
        assert.isAtMost(yield* listed(own, null, { since: Date.UTC(2100) }), 0)
        assert.isAtMost(yield* listed(own, null, { until: Date.UTC(2100) }), 27)
      }))

    it.effect("a filter scans a bounded number of messages, and following the pages finds every match", () =>
      Effect.gen(function*() {
        assert.isAtMost(yield* listed(own, null, { status: "sent" }), 27)
        // the scanned messages, and once more for how far that was
        assert.isAtMost(yield* listed(own, null, { status: "unknown" }), 2 * Page.maxScanned)
        assert.isAtMost(yield* listed(own, null, { to: ["+12021"] }), 2 * Page.maxScanned)

        const store = yield* Port.MessageStore
        const follow = Effect.fnUntraced(function*(filter: Port.MessageFilter) {
          const pages: Array<ReadonlyArray<string>> = []
          let after: string | null = null
          do {
            const page: Page.Page<Message.Message> = yield* store.list(own, filter, {
              limit: 25,
              after
            })
            pages.push(page.items.map(({ id }) => id))
            after = page.next
          } while (after !== null)
          return pages
        })
        assert.deepStrictEqual(yield* follow({ status: "failed" }), [
          [id("msg", 21_000_000), id("msg", 14_000_000), id("msg", 7_000_000)]
        ])
        assert.deepStrictEqual(yield* follow({ status: "unknown" }), [[], [], [id("msg", 1000)]])
        assert.deepStrictEqual(yield* follow({ to: ["+12021"] }), [[], [], [id("msg", 1000)]])
      }))

    it.effect("failed messages cost a page, however many others were sent since", () =>
      Effect.gen(function*() {
        assert.isAtMost(yield* listed(own, null, { status: "failed" }), 2 * 3)
        assert.isAtMost(yield* listed(own, id("msg", 14_000_000), { status: "failed" }), 2)
        assert.isAtMost(yield* listed(own, null, { status: "failed", to: ["+12021"] }), 2 * 3)
        assert.isAtMost(yield* listed(own, null, { status: "failed", until: Date.UTC(2100) }), 2 * 3)
        assert.isAtMost(yield* listed(other, null, { status: "failed" }), 0)
      }))

    it.effect("only a failure makes a report maintain an index: others rewrite the row on its page", () =>
      Effect.gen(function*() {
        const client = yield* PgClient.PgClient
        const rewritten = Effect.map(
          client<{ count: number }>`
            select pg_stat_get_xact_tuples_hot_updated('wac.messages'::regclass)::integer as count`,
          ([row]) => row!.count
        )
        /** Whether an update of a message leaves all indexes as they are. */
        const isLight = Effect.fnUntraced(function*(of: string, set: string) {
          const before = yield* rewritten
          yield* client.unsafe(`update wac.messages set ${set} where id = '${of}'`)
          return (yield* rewritten) > before
        })
        yield* client.withTransaction(Effect.gen(function*() {
          const [one, another] = [id("msg", 1000), id("msg", 2000)]
          assert.isTrue(yield* isLight(one, "status = 'delivered', delivered_at = 2, sequence = 2"))
          assert.isTrue(yield* isLight(one, "status = 'read', read_at = 3, sequence = 3"))
          assert.isFalse(yield* isLight(another, "status = 'failed', failed_at = 3, sequence = 2"))
        }))
      }))

    it.effect("a page of a conversation reads one index, as many rows of each name and direction", () =>
      Effect.gen(function*() {
        const page = (filter: Conversation.Filter, after: string | null, workspace = own) =>
          Effect.map(touched(Conversations.list(workspace, filter, { limit: 25, after })), (tables) => {
            for (const table of ["conversations", "messages"]) assert.strictEqual(tables(table).scans, 0, table)
            return [tables("conversations").read, tables("messages").read]
          })
        // half of all messages are of one customer, in both directions
        const names = ["+1", "US.1", "US.ENT.1"]
        const bound = (rows: ReadonlyArray<number>, most: number, sent: number) => {
          assert.isAtMost(rows[0]!, most)
          assert.isAtMost(rows[1]!, sent)
        }
        bound(yield* page({ names, direction: undefined }, null), 52, 26)
        bound(yield* page({ names, direction: undefined }, id("msg", 1000 * messages / 2)), 52, 26)
        bound(yield* page({ names, direction: "inbound" }, null), 26, 0)
        bound(yield* page({ names, direction: "outbound" }, id("msg", 1000 * messages / 2)), 26, 26)
        bound(yield* page({ names: ["+120299"], direction: undefined }, null), 1, 1)
        bound(yield* page({ names, direction: undefined }, null, other), 0, 0)
        bound(yield* page({ names: undefined, direction: "inbound" }, id("msg", 1000 * messages / 2)), 26, 0)
        bound(yield* page({ names: undefined, direction: "inbound" }, null, other), 0, 0)
      }))

    it.effect("a step of an export or erasure reads only the customer's messages, however long the conversations of others are", () =>
      Effect.gen(function*() {
        const client = yield* PgClient.PgClient
        const undone = yield* Effect.flip(client.withTransaction(Effect.gen(function*() {
          // the planner believes that every customer has as many messages as these
          yield* client`delete from wac.conversations where customer <> '+1'`
          yield* client.unsafe(
            `insert into wac.conversations (message_id, workspace_id, phone_number_id, customer, is_inbound)
            select ${sqlId("msg", "i * 1000 + 1")}, '${other}', 'pn', '+44' || i % 20, false
            from generate_series(1, ${messages}) i`
          )
          yield* client`update wac.conversations set customer = '+33'
            where workspace_id = ${own} and message_id in ${client.in([id("msg", 4000), id("msg", 6000)])}`
          yield* client`analyze wac.conversations`
          const names = { keys: ["+33", "FR.1"], texts: ["+33", "FR.1"] }
          const find = (after: string | null) =>
            walks.conversations.find({ workspaceId: own, place: "conversations", names, after })
          const of = yield* touchedBy(carryOutAll([find(null)]))
          assert.deepStrictEqual(of("conversations"), { scans: 0, read: 2, written: 0 })
          const [rows] = yield* carryOutAll([find(JSON.stringify([id("msg", 4000)]))])
          const { found } = rows![0] as { readonly found: ReadonlyArray<{ readonly message_id: string }> }
          assert.deepStrictEqual(found.map(({ message_id }) => message_id), [id("msg", 6000)])
          return yield* Effect.fail("undone" as const)
        })))
        assert.strictEqual(undone, "undone")
      }))

    it.effect("numbers are found by a part of them in one index, a row for each, however long their conversations are", () =>
      Effect.gen(function*() {
        const rows = (digits: string, isInternational: boolean, workspace = own) =>
          reads(
            "conversations",
            Conversations.numbers({ workspaceId: workspace, digits, isInternational, limit: 20 })
          )
        // half of all messages are of one customer
        assert.isAtMost(yield* rows("1202", true), 20)
        assert.isAtMost(yield* rows("2021", false), 4 * 20)
        assert.isAtMost(yield* rows("9999", false), 20)
        assert.isAtMost(yield* rows("1202", false, other), 0)
      }))

    it.effect("a look-up of a message that another one refers to reads only its own row, however many are kept", () =>
      Effect.gen(function*() {
        const named = (workspaceId: Id.WorkspaceId, n: number) =>
          Effect.map(
            touched(MessageStore.loadNamed({ workspaceId, id: id("msg", n) as Id.MessageId })),
            (tables) =>
              ["messages", "conversations", "inbound_messages"].map((table) => {
                assert.strictEqual(tables(table).scans, 0, table)
                return tables(table).read
              })
          )
        assert.deepStrictEqual(yield* named(own, 1000 * messages / 2), [1, 0, 0])
        assert.deepStrictEqual(yield* named(third, received + messages / 2), [0, 1, 0])
        const [, ...others] = yield* named(third, received)
        assert.deepStrictEqual(others, [0, 0])
      }))

    it.effect("moving a conversation reads and writes its messages alone", () =>
      Effect.gen(function*() {
        const moved = { workspaceId: own, phoneNumberId: "pn" as Id.PhoneNumberId, to: "US.1" }
        const [move] = Conversations.moveConversations([{ ...moved, names: ["+120299", "+1202101"] }])
        const tables = yield* touched(move!)
        assert.strictEqual(tables("conversations").scans, 0)
        assert.isAtMost(tables("conversations").read, 8)
        assert.strictEqual(tables("conversations").written, 2)
      }))

    it.effect("a page of opted-out contacts reads only these", () =>
      Effect.gen(function*() {
        const client = yield* PgClient.PgClient
        const page = (after?: readonly [string, string]) =>
          reads(
            "contacts",
            ContactStore.listUncovered({ workspaceId: own, limit: 26 }, {
              after: after === undefined ? undefined : { phoneNumberId: after[0], name: after[1] }
            })
          )
        assert.isAtMost(yield* page(), 0)
        const undone = yield* Effect.flip(client.withTransaction(Effect.gen(function*() {
          yield* client`update wac.contacts set opted_out = true, preference_at = 1
            where key like '+12021%77' and workspace_id = ${own}`
          assert.isAtMost(yield* page(), 26)
          assert.isAtMost(yield* page([id("pn", 2), "+120212500"]), 26)
          return yield* Effect.fail("undone" as const)
        })))
        assert.strictEqual(undone, "undone")
      }))

    it.effect("a page of contacts costs a page", () =>
      Effect.gen(function*() {
        const list = (workspaceId: Id.WorkspaceId, place: readonly [string, string] | null, number: string | null) =>
          reads(
            "contacts",
            ContactStore.list({ workspaceId, limit: 26 }, {
              after: place === null ? undefined : { phoneNumberId: place[0], name: place[1] },
              phoneNumberId: number ?? undefined
            })
          )
        assert.isAtMost(yield* list(own, null, null), 26)
        assert.isAtMost(yield* list(own, [id("pn", 2), "+120212500"], null), 26)
        assert.isAtMost(yield* list(own, null, id("pn", 3)), 26)
        assert.isAtMost(yield* list(own, [id("pn", 3), "+120212500"], id("pn", 3)), 26)
        assert.isAtMost(yield* list(other, null, null), 3)
        assert.isAtMost(yield* list(other, null, id("pn", 1)), 0)
      }))
  })
}
