/**
 * A database that was restored from a backup sends no campaign unasked (contract §11).
 */
import { assert, it } from "@effect/vitest"
import { Media } from "@wac/core"
import { Duration, Effect } from "effect"
import * as checks from "../checks.ts"
import { wac } from "../commandLine.ts"
import { call, ready } from "../harness.ts"
import { png, upload } from "../media/files.ts"
import { freshDatabase, masterKey, postgres, sql } from "../processes.ts"

const customer = (n: number) => `+1202555${String(n).padStart(4, "0")}`

it.live("a campaign in a restored database waits until the operator confirms it, and then sends", () =>
  Effect.gen(function*() {
    const database = yield* Effect.flatMap(postgres, freshDatabase)
    const variables = { ...checks.unlimited, DATABASE_URL: database, WAC_MASTER_KEY: masterKey() }
    const campaign = yield* Effect.scoped(Effect.gen(function*() {
      const { session, url } = yield* ready({ environment: variables })
      const created = yield* call(`${url}/internal/campaigns`, {
        headers: session,
        body: {
          name: "Later",
          template: { name: "hello_world", language: "en_US" },
          startAt: checks.timeIn(3_600_000),
          share: 0.9
        }
      })
      const path = `/internal/campaigns/${created.body.id}`
      const act = (verb: string) => call(`${url}${path}/${verb}`, { method: "POST", headers: session })
      yield* call(`${url}${path}/recipients`, {
        method: "PUT",
        headers: { ...session, "content-type": "application/x-ndjson" },
        body: [1, 2, 3].map((n) => `{"to":"${customer(n)}"}\n`).join("")
      })
      assert.strictEqual((yield* act("check")).status, 200)
      yield* checks.until(call(`${url}${path}`, { headers: session }), ({ body }) => body.status === "ready")
      assert.strictEqual((yield* act("start")).body.status, "scheduled")
      return { id: created.body.id as string, path }
    }))
    assert.include((yield* wac(variables)("campaigns list")).stdout, "no campaign waits")
    // the backup is from an hour ago
    yield* sql(database, "update wac.heartbeats set beat_at = beat_at - 3600000")
    yield* sql(
      database,
      "update wac.campaigns set work_at = 0, state = jsonb_set(state::jsonb, '{startAt}', '0')::json"
    )

    const { session, url } = yield* ready({ environment: variables })
    const get = call(`${url}${campaign.path}`, { headers: session })
    const waiting = yield* checks.until(get, ({ body }) => body.status !== "scheduled")
    assert.deepInclude(waiting.body, { status: "paused", pausedReason: "restored" })
    assert.strictEqual(waiting.body.counts.queued, 3)
    const listed = yield* wac(variables)("campaigns list")
    assert.include(listed.stdout, `${campaign.id} of`)
    const endAt = (notAfter: string) =>
      call(`${url}${campaign.path}`, { method: "PATCH", headers: session, body: { notAfter } })
    yield* endAt(checks.timeIn(-60_000))
    const refusing = yield* wac(variables)("campaigns confirm --json")
    assert.strictEqual(refusing.code, "one campaign still waits")
    const refused = JSON.parse(refusing.stdout)
    assert.deepStrictEqual(refused.campaigns, [])
    assert.deepInclude(refused.refused[0], { id: campaign.id, name: "Later" })
    assert.include(refused.refused[0].message, "the campaign's end (notAfter) has passed")
    assert.include((yield* wac(variables)("campaigns confirm")).stdout, `${campaign.id} of`)
    assert.deepInclude((yield* get).body, { status: "paused", pausedReason: "restored" })
    yield* endAt(checks.timeIn(3_600_000))
    // a file that all recipients get was deleted since
    const header = JSON.stringify({ type: "image", image: { media: "med_01K8ZQ8F6G0H2J4K6M8N0P2Q4R" } })
    yield* sql(
      database,
      `update wac.campaigns set state = jsonb_set(state::jsonb, '{template,header}', '${header}')::json`
    )
    const lacking = yield* wac(variables)("campaigns confirm --json")
    assert.strictEqual(lacking.code, "one campaign still waits")
    const [without] = JSON.parse(lacking.stdout).refused
    assert.deepInclude(without, { id: campaign.id })
    assert.strictEqual(without.message, "template.header.image.media does not name a file of this workspace")
    assert.deepInclude((yield* get).body, { status: "paused", pausedReason: "restored" })
    yield* sql(database, "update wac.campaigns set state = (state::jsonb #- '{template,header}')::json")
    const confirmed = yield* wac(variables)("campaigns confirm --json")
    assert.deepInclude(JSON.parse(confirmed.stdout).campaigns[0], { id: campaign.id, name: "Later" })
    assert.include((yield* wac(variables)("campaigns confirm")).stdout, "no campaign waits")
    const done = yield* checks.until(get, ({ body }) => body.status === "completed")
    assert.strictEqual(done.body.counts.queued, 0)
    const audit = yield* call(`${url}/internal/audit`, { headers: session })
    assert.isTrue(
      audit.body.data.some(({ action, by, target }: (typeof audit)["body"]) =>
        action === "campaign.resume" && by === null && target === campaign.id
      )
    )
  }).pipe(Effect.scoped, Effect.orDie))

it.live("WAC_RESTORED makes campaigns of a younger copy wait", () =>
  Effect.gen(function*() {
    const database = yield* Effect.flatMap(postgres, freshDatabase)
    const variables = { ...checks.unlimited, DATABASE_URL: database, WAC_MASTER_KEY: masterKey() }
    yield* Effect.scoped(ready({ environment: variables }))
    yield* sql(
      database,
      `insert into wac.campaigns (id, workspace_id, work_at, state)
      select 'cmp_01K8ZQ8F6G0H2J4K6M8N0P2Q4R', id, 0,
        json_build_object('id', 'cmp_01K8ZQ8F6G0H2J4K6M8N0P2Q4R', 'status', 'running')
      from wac.workspaces`
    )
    yield* ready({ environment: { ...variables, WAC_RESTORED: "true" } })
    yield* checks.until(
      sql<{ readonly reason: string }>(database, "select state ->> 'pausedFor' as reason from wac.campaigns"),
      ([row]) => row?.reason === "restored"
    )
  }).pipe(Effect.scoped, Effect.orDie))

/** A database that no server runs on, with waiting campaigns that have a file each, which is kept for an hour more. */
const waitingWithFiles = Effect.fnUntraced(function*(count: number) {
  const database = yield* Effect.flatMap(postgres, freshDatabase)
  const variables = { ...checks.unlimited, DATABASE_URL: database, WAC_MASTER_KEY: masterKey() }
  const found = yield* Effect.scoped(Effect.gen(function*() {
    const { key, session, url } = yield* ready({ environment: variables })
    return yield* Effect.forEach(Array.from({ length: count }), () =>
      Effect.gen(function*() {
        const { body: file } = yield* upload({ url, authorization: `Bearer ${key.apiKey}` }, {
          bytes: png,
          filename: "a.png"
        })
        const created = yield* call(`${url}/internal/campaigns`, {
          headers: session,
          body: {
            name: "Later",
            template: { name: "hello_world", language: "en_US" },
            startAt: checks.timeIn(3_600_000)
          }
        })
        const path = `${url}/internal/campaigns/${created.body.id}`
        const act = (verb: string) => call(`${path}/${verb}`, { method: "POST", headers: session })
        yield* call(`${path}/recipients`, {
          method: "PUT",
          headers: { ...session, "content-type": "application/x-ndjson" },
          body: `{"to":"${customer(1)}"}\n`
        })
        yield* act("check")
        yield* checks.until(call(path, { headers: session }), ({ body }) => body.status === "ready")
        yield* act("start")
        assert.strictEqual((yield* act("pause")).body.status, "paused")
        const header = JSON.stringify({ type: "image", image: { media: file.media_id } })
        yield* sql(
          database,
          `update wac.campaigns set state = (jsonb_set(state::jsonb, '{template,header}', '${header}')
            || '{"pausedFor":"restored"}')::json where id = '${created.body.id}'`
        )
        return { campaign: created.body.id as string, file: file.media_id as string }
      }))
  }))
  const used = checks.timeIn(3_600_000 - Duration.toMillis(Media.retention))
  yield* sql(
    database,
    `update wac.media set media = (media::jsonb || '{"lastUsedAt":${Date.parse(used)}}')::json`
  )
  // the first tries to keep a file fail
  const failing = (only: string, times: number) =>
    Effect.forEach([
      "create sequence wac.tries",
      `create function wac.fails() returns trigger language plpgsql as $fails$ begin
        if new.id = '${only}' and nextval('wac.tries') <= ${times} then
          raise exception using errcode = '53200', message = 'not now';
        end if;
        return new;
      end $fails$`,
      "create trigger fails before update on wac.media for each row execute function wac.fails()"
    ], (statement) => sql(database, statement))
  const isKept = (id: string) =>
    Effect.map(
      sql<{ readonly used: number }>(
        database,
        `select (media::jsonb ->> 'lastUsedAt')::double precision as used from wac.media where id = '${id}'`
      ),
      ([row]) => row!.used > Date.parse(used)
    )
  const audited = Effect.map(
    sql<{ readonly target: string }>(database, "select target from wac.audit where action = 'campaign.resume'"),
    (rows) => rows.map(({ target }) => target)
  )
  return { found, run: wac(variables, "campaigns"), failing, isKept, audited }
})

it.live("a campaign that the operator confirms has its file kept and is audited, even if the storage fails once after it was resumed", () =>
  Effect.gen(function*() {
    const { audited, failing, found: [one], isKept, run } = yield* waitingWithFiles(1)
    yield* failing(one!.file, 1)
    const { code, stdout } = yield* run("confirm --json")
    assert.strictEqual(code, 0)
    const { campaigns, ...others } = JSON.parse(stdout)
    assert.deepStrictEqual(campaigns.map(({ id }: { readonly id: string }) => id), [one!.campaign])
    assert.deepStrictEqual(others, { refused: [], failed: [] })
    assert.isTrue(yield* isKept(one!.file))
    assert.deepStrictEqual(yield* audited, [one!.campaign])
  }).pipe(Effect.scoped, Effect.orDie))

it.live("if the storage fails for one campaign, the others are resumed and printed before the command fails", () =>
  Effect.gen(function*() {
    const { audited, failing, found, isKept, run } = yield* waitingWithFiles(2)
    const [one, other] = found
    yield* failing(one!.file, 1000)
    const ended = yield* run("confirm --json")
    assert.match(`${ended.code}`, /^the storage failed for one campaign: /)
    const { campaigns, failed, refused } = JSON.parse(ended.stdout)
    assert.deepStrictEqual(campaigns.map(({ id }: { readonly id: string }) => id), [other!.campaign])
    assert.deepStrictEqual(refused, [])
    assert.deepInclude(failed[0], { id: one!.campaign, message: "storage could not carry out MediaStore.step" })
    assert.isTrue(yield* isKept(other!.file))
    assert.deepStrictEqual(yield* audited, [other!.campaign])
  }).pipe(Effect.scoped, Effect.orDie))
