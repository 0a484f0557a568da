/**
 * Contestant (b)'s child process: a hand-written service with Fastify, `pg`, prepared statements and a tuned pool. It
 * keeps those of our guarantees that a send depends on: keys looked up by hash, one send per idempotency key, replays,
 * conflicts, and an event with its delivery per message. It omits what would slow it down: rate limits, quotas and
 * policy.
 */
import Fastify from "fastify"
import { createHash, randomUUID } from "node:crypto"
import type { AddressInfo } from "node:net"
import pg from "pg"
import * as Child from "./Child.ts"
import * as RoundTrips from "./RoundTrips.ts"
import * as TwoTransactions from "./TwoTransactions.ts"
import * as Workload from "./Workload.ts"

interface Options {
  readonly databaseUrl: string
  readonly connections: number
}

interface ApiKey {
  readonly id: string
  readonly workspaceId: string
}

interface Message {
  readonly to: string
  readonly type: "template"
  readonly template: { readonly name: string; readonly language: string; readonly bodyParams?: ReadonlyArray<string> }
}

/** The provider. It accepts every message at once. */
const provide = (_message: Message): Promise<string> => Promise.resolve(`wamid.${randomUUID()}`)

const acceptText = TwoTransactions.accept({
  workspace: "$1::bigint",
  apiKey: "$2::bigint",
  key: "$3::text",
  fingerprint: "$4::bytea",
  claim: "$5::uuid",
  recipient: "$6::text",
  content: "$7::jsonb"
})
const settleText = TwoTransactions.settle({
  workspace: "$1::bigint",
  key: "$2::text",
  claim: "$3::uuid",
  answer: "$4::json",
  providerMessageId: "$5::text",
  data: "$6::jsonb"
})

const bodySchema = {
  type: "object",
  additionalProperties: false,
  required: ["to", "type", "template"],
  properties: {
    to: { type: "string", pattern: "^\\+[1-9][0-9]{6,14}$" },
    type: { const: "template" },
    template: {
      type: "object",
      additionalProperties: false,
      required: ["name", "language"],
      properties: {
        name: { type: "string", minLength: 1, maxLength: 512 },
        language: { type: "string", pattern: "^[a-z]{2,3}(_[A-Z]{2})?$" },
        bodyParams: { type: "array", items: { type: "string", minLength: 1 } }
      }
    }
  }
}

const sha256 = (text: string): Buffer => createHash("sha256").update(text).digest()

const canonical = ({ template, to, type }: Message): string =>
  JSON.stringify([to, type, template.name, template.language, template.bodyParams ?? []])

const errorOf = (code: string, message: string) => ({ error: { code, message } })

const start = async ({ connections, databaseUrl }: Options) => {
  const watcher = RoundTrips.watcher(databaseUrl)
  const pool = new pg.Pool({ connectionString: databaseUrl, max: connections, min: connections, idleTimeoutMillis: 0 })

  /** Caches a key for two seconds, so a revocation takes effect within that time. */
  const known = new Map<string, { readonly key: Promise<ApiKey | undefined>; readonly until: number }>()
  const find = (authorization: string | undefined): Promise<ApiKey | undefined> => {
    if (authorization === undefined || !authorization.startsWith("Bearer ")) return Promise.resolve(undefined)
    const hash = sha256(authorization.slice(7))
    const name = hash.toString("latin1")
    const found = known.get(name)
    if (found !== undefined && found.until > performance.now()) return found.key
    const key = pool.query<ApiKey>({
      name: "key",
      text: `select id, workspace_id as "workspaceId" from api_keys where token_hash = $1 and revoked_at is null`,
      values: [hash]
    }).then(({ rows }) => rows[0])
    if (known.size >= 10_000) known.clear()
    known.set(name, { key, until: performance.now() + 2000 })
    key.catch(() => known.delete(name))
    return key
  }

  const app = Fastify({
    bodyLimit: 64 * 1024,
    ajv: { customOptions: { removeAdditional: false, coerceTypes: false } }
  })

  app.post<{ Body: Message }>(Workload.path, { schema: { body: bodySchema } }, async (request, reply) => {
    const apiKey = await find(request.headers.authorization)
    if (apiKey === undefined) return reply.code(401).send(errorOf("unauthorized", "the API key is not valid"))
    const key = request.headers["idempotency-key"]
    if (typeof key !== "string" || !/^[\x21-\x7e]{1,255}$/.test(key)) {
      return reply.code(400).send(errorOf("invalid_body", "Idempotency-Key must be 1 to 255 visible ASCII characters"))
    }
    const message = request.body
    const fingerprint = sha256(canonical(message))
    const claim = randomUUID()
    const { rows: [accepted] } = await pool.query<{ readonly id: string }>({
      name: "accept",
      text: acceptText,
      values: [apiKey.workspaceId, apiKey.id, key, fingerprint, claim, message.to, JSON.stringify(message)]
    })
    if (accepted === undefined) {
      const { rows: [seen] } = await pool.query<{
        readonly fingerprint: Buffer
        readonly answer: string | null
        readonly running: boolean
      }>({
        name: "seen",
        text: `select fingerprint, answer::text as answer, lease_until > now() as running from idempotency_keys
          where workspace_id = $1 and key = $2`,
        values: [apiKey.workspaceId, key]
      })
      if (seen !== undefined && !seen.fingerprint.equals(fingerprint)) {
        return reply.code(409).send(errorOf("idempotency_conflict", "the key was used before with another body"))
      }
      if (seen?.answer != null) return reply.type("application/json").send(seen.answer)
      return seen?.running === false
        ? reply.code(504).send(errorOf("server_error", "nobody knows whether the message was sent"))
        : reply.code(503).header("retry-after", "1").send(errorOf("server_error", "the same send is still running"))
    }
    const providerMessageId = await provide(message)
    const answer = JSON.stringify({
      status: "sent",
      message_id: accepted.id,
      provider_message_id: providerMessageId,
      tenant_id: apiKey.workspaceId,
      api_key_id: apiKey.id
    })
    const { rowCount } = await pool.query({
      name: "settle",
      text: settleText,
      values: [
        apiKey.workspaceId,
        key,
        claim,
        answer,
        providerMessageId,
        JSON.stringify({
          message_id: accepted.id,
          provider_message_id: providerMessageId,
          to: message.to,
          status: "sent",
          sequence: 1
        })
      ]
    })
    if (rowCount !== 1) return reply.code(504).send(errorOf("server_error", "the send's claim was lost"))
    return reply.type("application/json").send(answer)
  })

  await app.listen({ host: "127.0.0.1", port: 0 })
  return {
    ready: { url: `http://127.0.0.1:${(app.server.address() as AddressInfo).port}` },
    answer: (question: RoundTrips.Watch) => Promise.resolve(watcher.answer(question))
  }
}

Child.serve(start)
