/**
 * What one key, session, person, message or page of sealed secrets costs: only its own rows, whatever else is stored
 * and whatever the planner assumes about the tables. Every statement is first repeated on empty tables until its plan
 * is fixed.
 */
import { PgClient } from "@effect/sql-pg"
import { assert, layer } from "@effect/vitest"
import {
  type ApiKey,
  ApiKeyStore as ApiKeys,
  CampaignStore as Campaigns,
  FactorStore as Factors,
  type Id,
  type Idempotency,
  InvitationStore as Invitations,
  type KeptAnswer,
  KeptAnswerStore as Answers,
  KeyBinding,
  MemberStore as Members,
  MessageStore as Messages,
  PasskeyStore as Passkeys,
  type Portal,
  PortalStore as Portals,
  RequestValuesStore as Values,
  SealedSecretStore as SealedSecrets,
  SessionStore as Sessions,
  WorkspaceStore as Workspaces
} from "@wac/core"
import { Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import * as CampaignStore from "../src/campaigns/CampaignStore.ts"
import * as ApiKeyStore from "../src/keys/ApiKeyStore.ts"
import * as MessageStore from "../src/messages/MessageStore.ts"
import { assign } from "../src/people/Assign.ts"
import * as FactorStore from "../src/people/FactorStore.ts"
import * as InvitationStore from "../src/people/InvitationStore.ts"
import * as MemberStore from "../src/people/MemberStore.ts"
import { openPortal } from "../src/people/OpenPortal.ts"
import * as PasskeyStore from "../src/people/PasskeyStore.ts"
import * as PortalStore from "../src/people/PortalStore.ts"
import * as SessionStore from "../src/people/SessionStore.ts"
import * as KeptAnswerStore from "../src/requests/KeptAnswerStore.ts"
import * as RequestValuesStore from "../src/requests/RequestValuesStore.ts"
import * as SealedSecretStore from "../src/secrets/SealedSecretStore.ts"
import * as WorkspaceStore from "../src/workspaces/WorkspaceStore.ts"
import { carryOut } from "./carryOut.ts"
import { planningDatabases } from "./servers.ts"
import { discardPlans, touchedBy } from "./touched.ts"

const now = 1_800_000_000_000
const stored = 10_000
const some = 5000

const sealed = "substr(sha256('nonce'), 1, 12), sha256('ciphertext')"

/** The first person to sign in. */
const first = [
  "insert into wac.workspaces (id, name, created_at) values ('ws 0', 'one', 0)",
  "insert into wac.people (user_id, email, password_hash, created_at) values ('usr 0', 'a@example.com', 'h', 0)",
  "insert into wac.members (user_id, workspace_id, role, created_at) values ('usr 0', 'ws 0', 'owner', 0)"
]

/** The tables after many sign-ins, keys and sends. 64 of the sealed secrets are under an older master key. */
const fill = [
  `insert into wac.workspaces (id, name, created_at) select 'ws ' || i, 'one', 0 from generate_series(1, ${stored}) i`,
  `insert into wac.people (user_id, email, password_hash, created_at)
  select 'usr ' || i, 'a' || i || '@example.com', 'h', 0 from generate_series(1, ${stored}) i`,
  `insert into wac.identities (issuer, subject, user_id, created_at)
  select 'https://issuer.example', 'sub ' || i, 'usr ' || i, 0 from generate_series(1, ${stored}) i
  where i <> ${some}`,
  `insert into wac.members (user_id, workspace_id, role, created_at)
  select 'usr ' || i, 'ws ' || i, 'owner', 0 from generate_series(1, ${stored}) i`,
  `insert into wac.sessions (token_hash, user_id, created_at, idle_until, absolute_until, id, workspace_id)
  select 'hash ' || i, 'usr ' || i, 0, ${now} + i, ${now} + 1000 + i, 'ses ' || i, 'ws ' || i
  from generate_series(1, ${stored}) i`,
  `insert into wac.invitations (id, workspace_id, email, role, token_hash, created_at, expires_at)
  select 'inv ' || i, 'ws ' || i, 'b' || i || '@example.com', 'member', 'hash ' || i, 0, ${now} + i
  from generate_series(1, ${stored}) i`,
  `insert into wac.password_resets (token_hash, user_id, created_at, expires_at)
  select 'hash ' || i, 'usr ' || i, 0, ${now} + i from generate_series(1, ${stored}) i`,
  `insert into wac.second_factors (user_id, key_id, nonce, ciphertext, created_at, confirmed_at, last_step)
  select 'usr ' || i, 'newer', ${sealed}, 0, 0, 0 from generate_series(1, ${stored}) i`,
  `insert into wac.passkeys (id, user_id, name, credential_id, public_key, counter, transports, created_at)
  select 'psk ' || i, 'usr ' || i, 'one', 'c ' || i, 'k', 0, '{}', 0 from generate_series(1, ${stored}) i`,
  `insert into wac.passkey_challenges (user_id, purpose, token_hash, created_at, expires_at)
  select 'usr ' || i, 'add', 'hash ' || i, 0, ${now} + i from generate_series(1, ${stored}) i`,
  `insert into wac.recovery_codes (user_id, fingerprint) select 'usr ' || i, 'f' from generate_series(1, ${stored}) i`,
  `insert into wac.sign_in_challenges (token_hash, user_id, password_hash, tries_left, created_at, expires_at)
  select 'hash ' || i, 'usr ' || i, 'p', 5, 0, ${now} + i from generate_series(1, ${stored}) i`,
  `insert into wac.portals (id, token_hash, workspace_id, role, visitor, is_open, created_at, expires_at)
  select 'ses ' || i, 'hash ' || i, 'ws ' || i, 'member', 'portal', i > ${some}, 0, ${now} + i
  from generate_series(1, ${stored}) i`,
  `insert into wac.api_keys (id, workspace_id, name, prefix, scopes, token_hash, secret_key_id, secret_nonce,
    secret_ciphertext, require_signature, created_at)
  select 'key ' || i, 'ws ' || i, 'one', 'p', '{messages:send}', 'hash ' || i,
    case when i <= 64 then 'older' else 'newer' end, ${sealed}, false, 0
  from generate_series(1, ${stored}) i`,
  `insert into wac.api_key_uses (api_key_id, last_used_at) select 'key ' || i, 1 from generate_series(1, ${stored}) i`,
  // of all three, 4 have expired
  `insert into wac.api_key_requests (workspace_id, idempotency_key, fingerprint, api_key_id, expires_at)
  select 'ws 0', 'k ' || i, 'f', 'key ' || i, case when i <= 4 then i else ${now} + 86400000 + i end
  from generate_series(1, ${stored}) i`,
  `insert into wac.request_values_switches (workspace_id, until, epoch)
  select 'ws ' || i, ${now} + 86400000, 1 from generate_series(0, ${stored}) i`,
  // of the workspace in question, and of all others; two of them outdated
  `insert into wac.request_values (workspace_id, epoch, request_id, key_id, nonce, ciphertext)
  select 'ws 0', case when i <= 2 then 0 else 1 end, 'req ' || i, 'newer', ${sealed}
  from generate_series(1, ${stored}) i
  union all select 'ws ' || i, 1, 'req z', 'newer', ${sealed} from generate_series(1, ${stored}) i`,
  `insert into wac.kept_answers (workspace_id, caller, route, key, fingerprint, token, lease_until, status, body, expires_at)
  select 'ws 0', 'usr ' || i, 'POST /internal/campaigns', 'key', 'f', 'req ' || i, 0, 201, '{}',
    case when i <= 4 then i else ${now} + 86400000 + i end
  from generate_series(1, ${stored}) i`,
  `insert into wac.read_marks (workspace_id, message_id, key, fingerprint, expires_at)
  select 'ws 0', 'msg ' || i, 'key', 'f', case when i <= 4 then i else ${now} + 86400000 + i end
  from generate_series(1, ${stored}) i`,
  `insert into wac.phone_numbers (id, workspace_id, provider, phone_number, provider_number_id, provider_account_id)
  select 'pn ' || i, 'ws ' || i, 'sandbox', '+1' || i, 'p' || i, 'a' from generate_series(1, ${stored}) i`,
  `insert into wac.phone_number_credentials (phone_number_id, key_id, nonce, ciphertext)
  select 'pn ' || i, 'newer', ${sealed} from generate_series(1, ${stored}) i`,
  `insert into wac.webhooks (id, workspace_id, url, envelope, event_types, created_at, updated_at)
  select 'whk ' || i, 'ws ' || i, 'https://receiver.example/', 'combined', '{}', 0, 0 from generate_series(1, ${stored}) i`,
  `insert into wac.webhook_secrets (webhook_id, position, key_id, nonce, ciphertext)
  select 'whk ' || i, 0, 'newer', ${sealed} from generate_series(1, ${stored}) i`,
  `insert into wac.messages (id, workspace_id, api_key_id, phone_number_id, from_number, content, status, status_at,
    created_at, sent_at)
  select 'msg ' || i, 'ws ' || i, 'key ' || i, 'pn ' || i, '+1', '{}', 'sent', 1, 1, 1
  from generate_series(1, ${stored}) i`,
  `insert into wac.campaigns (id, workspace_id, state)
  select 'cmp ' || i, 'ws ' || i, '{}' from generate_series(1, ${stored}) i`,
  `insert into wac.campaign_timelines (campaign_id, at, shard, sent, delivered, read)
  select 'cmp ' || i, at, shard, 1, 1, 1
  from generate_series(1, ${stored}) i, generate_series(1, 3) at, generate_series(0, 1) shard`,
  `insert into wac.campaign_rows (campaign_id, place, content, problem)
  select 'cmp ' || i, place, '{"problem":{"reason":"malformed","message":"m"}}', '{"reason":"malformed","message":"m"}'
  from generate_series(1, ${stored}) i, generate_series(1, 2) place`,
  `insert into wac.campaign_rows (campaign_id, place, content, problem)
  select 'cmp ${some}', place, '{"problem":{"reason":"malformed","message":"m"}}', '{"reason":"malformed","message":"m"}'
  from generate_series(3, ${stored}) place`
]

const tables = [
  "workspaces",
  "people",
  "identities",
  "members",
  "sessions",
  "invitations",
  "password_resets",
  "second_factors",
  "passkeys",
  "passkey_challenges",
  "recovery_codes",
  "sign_in_challenges",
  "portals",
  "api_keys",
  "api_key_requests",
  "api_key_uses",
  "kept_answers",
  "request_values_switches",
  "request_values",
  "read_marks",
  "phone_numbers",
  "phone_number_credentials",
  "webhooks",
  "webhook_secrets",
  "messages",
  "campaigns",
  "campaign_rows",
  "campaign_timelines"
]

const workspace = `ws ${some}` as Id.WorkspaceId
const keyIds = (count: number) => Array.from({ length: count }, (_, i) => `key ${some + i}` as Id.ApiKeyId)

const newKey: ApiKey.ApiKey = {
  id: "key new" as Id.ApiKeyId,
  workspaceId: "ws 0" as Id.WorkspaceId,
  name: "one",
  prefix: "p",
  scopes: ["messages:send"],
  ...KeyBinding.unbound,
  tokenHash: "hash new",
  signingSecret: { keyId: "newer", nonce: new Uint8Array(12), ciphertext: new Uint8Array(32) },
  requireSignature: false,
  createdAt: now,
  expiresAt: null,
  revokedAt: null,
  lastUsedAt: null
}

const placeOf = (i: number): KeptAnswer.Place => ({
  workspaceId: "ws 0" as Id.WorkspaceId,
  caller: `usr ${i}`,
  route: "POST /internal/campaigns",
  key: "key" as Idempotency.IdempotencyKey
})

const markOf = (i: number): Parameters<Messages.MessageStore["Service"]["keepReadMark"]>[0] => ({
  workspaceId: "ws 0" as Id.WorkspaceId,
  messageId: `msg ${i}` as Id.MessageId,
  key: "key" as Idempotency.IdempotencyKey,
  fingerprint: "f",
  now,
  expiresAt: now + 86_400_000
})

/** Every request of the dashboard waits for it: a write of each would wait for the disk. */
const sessionUse = "a session's use that does not move its end"

const session: Sessions.StoredSession = {
  id: "ses new" as Id.SessionId,
  workspaceId: "ws 0" as Id.WorkspaceId,
  roles: null,
  address: null,
  agent: null,
  tokenHash: "new",
  userId: "usr 0" as Id.UserId,
  createdAt: now,
  idleUntil: now + 1000,
  absoluteUntil: now + 1000
}

const portal: Portal.Portal = {
  id: "ses" as Id.SessionId,
  tokenHash: "hash",
  workspaceId: "ws 0" as Id.WorkspaceId,
  role: "member",
  visitor: "portal",
  createdAt: now,
  expiresAt: now + 1000
}

/** A step, and the maximum number of rows of each table that it may read. */
type Step = readonly [Effect.Effect<unknown, unknown, PgClient.PgClient>, { readonly [table: string]: number }]

const steps = Effect.gen(function*() {
  const factors = yield* Factors.FactorStore
  const userId = `usr ${some}` as Id.UserId
  const campaigns = yield* Campaigns.CampaignStore
  const keys = yield* ApiKeys.ApiKeyStore
  const answers = yield* Answers.KeptAnswerStore
  const values = yield* Values.RequestValuesStore
  const other = "ws 0" as Id.WorkspaceId
  const members = yield* Members.MemberStore
  const invitations = yield* Invitations.InvitationStore
  const messages = yield* Messages.MessageStore
  const secrets = yield* SealedSecrets.SealedSecretStore
  const passkeys = yield* Passkeys.PasskeyStore
  const portals = yield* Portals.PortalStore
  const sessions = yield* Sessions.SessionStore
  const workspaces = yield* Workspaces.WorkspaceStore
  const all: { readonly [step: string]: Step } = {
    "a key by its token": [keys.findByTokenHash(`hash ${some}`), {
      api_keys: 1,
      api_key_uses: 1,
      workspaces: 1,
      request_values_switches: 1
    }],
    "whether values of requests are kept": [values.until(other, now), { request_values_switches: 1 }],
    "values of requests switched on": [values.switchOn(other, now), { request_values_switches: 2, workspaces: 1 }],
    "values of 64 requests": [
      values.keep(
        Array.from({ length: 64 }, (_, i) => ({
          workspaceId: other,
          requestId: `req new ${i}` as Id.RequestId,
          epoch: 1,
          sealed: { keyId: "newer", nonce: new Uint8Array(12), ciphertext: new Uint8Array(1) }
        })),
        now
      ),
      // held, and named by the foreign key
      { request_values_switches: 2 + 64, request_values: 0 }
    ],
    "the values of a request": [values.find(other, `req ${some}` as Id.RequestId), {
      request_values_switches: 1,
      request_values: 1
    }],
    // found, and deleted
    "outdated values of a workspace": [values.removeOutdated(other), {
      request_values_switches: 1,
      request_values: 2 * 2
    }],
    "a new epoch": [values.outdate(other), { request_values_switches: 2, workspaces: 1 }],
    "values of requests switched off": [values.switchOff(other), { request_values_switches: 2, workspaces: 1 }],
    "a key by its id": [keys.get(workspace, keyIds(1)[0]!), { api_keys: 1, api_key_uses: 1 }],
    "uses of 64 keys": [keys.touch(new Map(keyIds(64).map((id) => [id, now]))), {
      api_keys: 2 * 64,
      api_key_uses: 2 * 64
    }],
    "a revocation": [keys.revoke(workspace, keyIds(1)[0]!, now), { api_keys: 2, api_key_uses: 1, workspaces: 1 }],
    "an API key that was created before": [
      keys.findIssued(
        workspace,
        { key: "k 10" as Idempotency.IdempotencyKey, fingerprint: "f", caller: "usr" },
        now
      ),
      { api_key_requests: 1, api_keys: 1, api_key_uses: 1 }
    ],
    // a row, and an expired one that is deleted with it: found, and deleted
    "a new API key": [
      keys.issue(newKey, { key: "new" as Idempotency.IdempotencyKey, fingerprint: "f", caller: "usr" }),
      {
        api_keys: 2,
        api_key_requests: 2 + 2,
        workspaces: 2
      }
    ],
    "a claim of an Idempotency-Key": [
      answers.claim(placeOf(0), { fingerprint: "f", token: "own", isRepeatable: false }, now),
      { kept_answers: 1, workspaces: 1 }
    ],
    // with an expired row that is deleted: found, and deleted
    "the answer to a request": [
      answers.settle(placeOf(some), `req ${some}`, { status: 201, body: "{}" }, now),
      { kept_answers: 2 + 2, workspaces: 1 }
    ],
    "a claim of an answered Idempotency-Key": [
      answers.claim(placeOf(some), { fingerprint: "f", token: "another", isRepeatable: false }, now),
      { kept_answers: 2, workspaces: 1 }
    ],
    "a place given back": [answers.settle(placeOf(some), `req ${some}`, null, now), {
      kept_answers: 2 + 2
    }],
    "a message that is marked as read": [messages.keepReadMark(markOf(0)), { read_marks: 2 }],
    "a message that is marked as read again": [messages.keepReadMark(markOf(some)), { read_marks: 2 + 2 }],
    "whether a message was marked as read": [messages.recallReadMark(markOf(some), now), { read_marks: 1 }],
    [sessionUse]: [sessions.use(`hash ${some}`, now, now + 1), { sessions: 1 }],
    "a session's use that moves its end": [sessions.use(`hash ${some}`, now, now + 86_400_000), {
      sessions: 2,
      people: 1
    }],
    "whether a session is fresh": [sessions.isFresh(`hash ${some}`, now), { sessions: 1 }],
    "a proof of presence": [sessions.prove(`hash ${some}`, now, "another hash"), { sessions: 2, people: 1 }],
    // the person, and once more for the foreign key
    "a new session": [sessions.create(session), { sessions: 1, people: 2 }],
    "a person's sessions": [sessions.list(`usr ${some}` as Id.UserId, now), { sessions: 1 }],
    "the end of all sessions of a person": [sessions.endAll(`usr ${some}` as Id.UserId, "hash"), { sessions: 2 }],
    "the end of a session by its id": [
      sessions.end(`usr ${some}` as Id.UserId, `ses ${some}` as Id.SessionId),
      { sessions: 2 }
    ],
    "a session's end": [sessions.remove(`hash ${some}`), { sessions: 2 }],
    "a link to the portal": [
      portals.create({ ...portal, tokenHash: "new", id: "ses new" as Id.SessionId }),
      { portals: 0, workspaces: 1 }
    ],
    "the opening of a link to the portal": [
      carryOut(openPortal, [{ tokenHash: `hash ${some}`, sessionHash: "newer", now, expiresAt: now + 1000 }]),
      { portals: 2, workspaces: 1 }
    ],
    "a session of the portal": [portals.find(`hash ${some + 1}`, now), { portals: 1 }],
    "the end of a session of the portal": [portals.end(`hash ${some + 2}`), { portals: 2 }],
    "a person by their address": [members.findByEmail(`a${some}@example.com`), {
      people: 1,
      members: 1,
      workspaces: 1
    }],
    "a person by their id": [
      members.findByUserId(`usr ${some}` as Id.UserId),
      { people: 1, members: 1, workspaces: 1 }
    ],
    // the person for the conflict, their name, the lock, the memberships and the foreign keys; what ends
    "the first roles that an issuer states": [
      carryOut(assign, [{
        identity: { issuer: "https://issuer.example", subject: "sub new" },
        userId: "usr new" as Id.UserId,
        email: `a${some}@example.com`,
        now,
        roles: [{ workspaceId: "ws 0" as Id.WorkspaceId, role: "member" }]
      }]),
      { people: 7, members: 2, sessions: 1, workspaces: 1 }
    ],
    "the next roles that an issuer states": [
      carryOut(assign, [{
        identity: { issuer: "https://issuer.example", subject: `sub ${some + 1}` },
        userId: "usr new" as Id.UserId,
        email: `a${some}@example.com`,
        now,
        roles: [{ workspaceId: "ws 0" as Id.WorkspaceId, role: "member" }]
      }]),
      { people: 2, identities: 5, members: 2, sessions: 1, workspaces: 1 }
    ],
    "the members of a workspace": [members.ofWorkspace(workspace), { people: 1, members: 1 }],
    "an invitation": [invitations.find(`hash ${some}`), { invitations: 1 }],
    "a password reset link": [invitations.findReset(`hash ${some}`, now), { password_resets: 1 }],
    "a second factor": [factors.find(userId), { second_factors: 1, recovery_codes: 1 }],
    // with the row that a foreign key names: what this transaction has inserted is checked again
    "a code of a second factor": [factors.useStep(userId, 1), { second_factors: 2, people: 1 }],
    "a recovery code": [factors.useRecoveryCode(userId, "f"), { recovery_codes: 2 }],
    "a challenge of a sign-in": [
      factors.challenge({
        tokenHash: "new",
        userId,
        passwordHash: "p",
        triesLeft: 5,
        createdAt: now,
        expiresAt: now + 1000
      }),
      { second_factors: 2 }
    ],
    "a challenge by its token": [factors.findChallenge(`hash ${some}`, now), { sign_in_challenges: 1 }],
    "a try of a challenge": [factors.attempt(`hash ${some}`, now), { sign_in_challenges: 2, second_factors: 1 }],
    "the end of a challenge": [factors.redeem(`hash ${some}`), { sign_in_challenges: 2 }],
    "the removal of a second factor": [
      factors.remove(userId),
      { second_factors: 2, recovery_codes: 2, sign_in_challenges: 2, passkeys: 2 }
    ],
    "a person's passkeys": [passkeys.list(userId), { passkeys: 1 }],
    "a use of a passkey": [
      passkeys.use({ userId, id: `psk ${some}` as Id.PasskeyId, counter: 0, now }),
      { passkeys: 2, second_factors: 1 }
    ],
    "the end of a challenge of a passkey": [
      passkeys.redeem({ userId, purpose: "add", tokenHash: `hash ${some}`, now }),
      { passkey_challenges: 2 }
    ],
    "a workspace's invitations": [invitations.list(workspace, 0), { invitations: 1 }],
    "a workspace": [workspaces.get(workspace), { workspaces: 1 }],
    "a message": [messages.get(workspace, `msg ${some}` as Id.MessageId), { messages: 1 }],
    "a campaign's timeline": [
      campaigns.timeline(workspace, `cmp ${some}` as Id.CampaignId),
      { campaigns: 1, campaign_timelines: 3 * 2 }
    ],
    "rows of a campaign by their places": [
      campaigns.rowsAt(workspace, `cmp ${some}` as Id.CampaignId, [1, 2, 7, 50, 900]),
      { campaigns: 1, campaign_rows: 5 }
    ],
    "the master keys in use": [secrets.keyIds, {
      peppers: 2,
      api_keys: 2,
      phone_number_credentials: 1,
      request_values: 1,
      second_factors: 1,
      webhook_secrets: 1
    }],
    "the first secrets under a master key": [secrets.under("newer", { after: null, limit: 32 }), {
      peppers: 1,
      api_keys: 32,
      phone_number_credentials: 32,
      request_values: 32,
      second_factors: 32,
      webhook_secrets: 33
    }],
    "the last secrets under a master key": [secrets.under("older", { after: "key 60" as Id.ApiKeyId, limit: 32 }), {
      peppers: 1,
      api_keys: 32
    }]
  }
  return all
})

/** The planner's basis: guesses about empty tables, or statistics of their content. */
const beliefs = ["guessed", "seen"] as const

const stores = Layer.mergeAll(
  ApiKeyStore.layer,
  CampaignStore.layer,
  FactorStore.layer,
  InvitationStore.layer,
  KeptAnswerStore.layer,
  RequestValuesStore.layer,
  MemberStore.layer,
  MessageStore.layer.pipe(Layer.provide(SecureRandom.layerWebCrypto)),
  SealedSecretStore.layer,
  PasskeyStore.layer,
  PortalStore.layer,
  SessionStore.layer,
  WorkspaceStore.layer
)

for (
  const { belief, database, name } of planningDatabases.flatMap(({ layer, name }) =>
    beliefs.map((belief) => ({ belief, database: layer, name: `${name}, tables ${belief}` }))
  )
) {
  layer(stores.pipe(Layer.provideMerge(database)), { excludeTestServices: true })(name, (it) => {
    it.effect("each step reads only its own rows", () =>
      Effect.gen(function*() {
        const client = yield* PgClient.PgClient
        const all = Object.entries(yield* steps)
        // one connection, so that its plans stay
        yield* client.withTransaction(Effect.gen(function*() {
          yield* client`set local statement_timeout = 0`
          for (const statement of first) yield* client.unsafe(statement)
          for (const [, [step]] of all) {
            for (let i = 0; i < 8; i++) yield* touchedBy(step)
          }
          for (const statement of fill) yield* client.unsafe(statement)
          if (belief === "seen") yield* client.unsafe(`analyze ${tables.map((table) => `wac.${table}`).join(", ")}`)
          const measure = Effect.gen(function*() {
            const over: Array<string> = []
            for (const [what, [step, most]] of all) {
              // when it plans again, the planner reads the ends of indexes
              yield* touchedBy(step)
              const touched = yield* touchedBy(step)
              for (const table of tables) {
                const { read, written } = touched(table)
                if (read > (most[table] ?? 0)) over.push(`${what} reads ${read} rows of ${table}`)
                if (what === sessionUse && written > 0) over.push(`${what} writes ${written} rows of ${table}`)
              }
            }
            assert.deepStrictEqual(over, [])
          })
          yield* measure
          if (belief === "guessed") yield* Effect.andThen(discardPlans, measure)
        }))
      }))
  })
}
