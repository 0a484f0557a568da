/**
 * `wac numbers`, beside a server on the same database.
 */
import { assert, it } from "@effect/vitest"
import { PhoneNumberStore, SenderCredentials } from "@wac/core"
import { Context, Effect, Redacted } from "effect"
import { now } from "../checks.ts"
import { type Ended, wac } from "../commandLine.ts"
import { call, signIn, start } from "../harness.ts"
import { carryOut, freshDatabase, masterKey, postgres, sql } from "../processes.ts"

/** Asserts that it failed with one line. */
const assertRefused = ({ code, stdout }: Ended, words: RegExp) => {
  assert.strictEqual(stdout, "")
  assert.match(String(code), /^[^\n]+$/)
  assert.match(String(code), words)
}

it.live(
  "the command lists, adds and changes numbers and their tokens, and a running server uses them",
  () =>
    Effect.gen(function*() {
      const env = { DATABASE_URL: yield* Effect.flatMap(postgres, freshDatabase), WAC_MASTER_KEY: masterKey() }
      const numbers = wac(env, "numbers")
      assert.deepStrictEqual(yield* numbers("list"), { code: 0, stdout: "there is no workspace yet", stderr: "" })
      const add = "add +14155550123 --id 1066 --account 4711"
      assertRefused(yield* numbers(add), /set up the first one/)

      const { services, url } = yield* start({ environment: env })
      const session = yield* signIn(url)
      const shown = Effect.map(
        call(`${url}/internal/phone-numbers`, { headers: session }),
        ({ body }) => body.data
      )
      const [sandbox] = yield* shown
      const token = "EAAG-the-first-token"
      const added = yield* numbers(`${add} --default --token-from - --api-version v26.0`, { input: `${token}\n` })
      assert.deepStrictEqual([added.code, added.stderr], [0, ""])
      const [number, other] = yield* shown
      assert.include(number, {
        phoneNumber: "+14155550123",
        providerNumberId: "1066",
        providerAccountId: "4711",
        isDefault: true,
        tier: "standard"
      })
      assert.deepStrictEqual(other, { ...sandbox, isDefault: false })
      assert.include(added.stdout, number.id)

      /** What the running server shows the provider for it. */
      const credentials = Effect.gen(function*() {
        const [sender] = yield* Context.get(services, PhoneNumberStore.PhoneNumberStore).named({
          providerNumberId: "1066"
        })
        const found = yield* Context.get(services, SenderCredentials.SenderCredentials).of(sender!)
        return found && { ...found, accessToken: Redacted.value(found.accessToken) }
      }).pipe(Effect.orDie)
      assert.deepStrictEqual(yield* credentials, { accessToken: token, apiVersion: "v26.0" })
      const [row] = yield* sql<{ readonly text: string }>(
        env.DATABASE_URL,
        "select string_agg(c::text, '') as text from wac.phone_number_credentials c"
      )
      assert.notInclude(row!.text, Buffer.from(token).toString("hex"))

      const second = "EAAG-the-second-token"
      const set = yield* numbers("token +14155550123 --token-from SHOP_TOKEN", { env: { SHOP_TOKEN: second } })
      assert.deepStrictEqual([set.code, set.stderr], [0, ""])
      assert.deepStrictEqual(yield* credentials, { accessToken: second })
      assertRefused(yield* numbers("token 1066 --token-from NOT_SET"), /NOT_SET/)
      assertRefused(
        yield* numbers("token 1066 --token-from SHOP_TOKEN", { env: { SHOP_TOKEN_FILE: "/nowhere" } }),
        /^SHOP_TOKEN_FILE: .*\/nowhere cannot be read/
      )
      assertRefused(yield* numbers("token 1066", { input: "" }), /standard input/)
      assertRefused(yield* numbers("token 1066", { input: "two words" }), /characters/)
      assert.deepStrictEqual(yield* credentials, { accessToken: second })
      const removed = yield* numbers(`token ${number.id} --remove`)
      assert.strictEqual(removed.code, 0)
      assert.isUndefined(yield* credentials)

      // a repeat changes nothing, and shows what is there
      const repeated = `${add} --token-from -`
      const whole = new RegExp(`already belongs to ws_\\w+ as ${number.id}, .* configuration: see .wac numbers list`)
      assertRefused(yield* numbers(add), whole)
      assertRefused(yield* numbers(repeated, { input: token }), whole)
      assertRefused(yield* numbers(add.replace("1066", "1067")), new RegExp(`as ${number.id}`))
      assert.isUndefined(yield* credentials)
      assertRefused(yield* numbers(`${add}1 --workspace ws_nobody`), /ws_nobody/)
      assertRefused(yield* numbers("add +14155550124 --id 1 --account 1 --base-url https://x.example"), /--token-from/)
      assertRefused(yield* numbers("set +14155550199 --sending off"), /\+14155550199/)
      assertRefused(yield* numbers("set 1066 --tier fast"), /coexistence, standard, high|standard/)
      yield* Effect.orDie(
        Context.get(services, PhoneNumberStore.PhoneNumberStore).observe({
          name: { providerNumberId: "1066" },
          now: now(),
          at: now(),
          change: {
            block: { reason: "restricted", scope: "all", basis: "report", since: now(), until: null, provider: null }
          }
        })
      )
      assert.include((yield* numbers("list")).stdout, "blocked: the provider has restricted")
      assert.include((yield* numbers("set 1066 --unblock")).stdout, "available")
      const changed = yield* numbers("set 1066 --tier default --messaging-limit 250 --portfolio 2729 --sending off")
      assert.strictEqual(changed.code, 0)
      assert.include((yield* shown)[0], { messagingLimit: 250, portfolioId: "2729", status: "disabled", block: null })
      assert.include((yield* numbers("set 1066 --messaging-limit unlimited")).stdout, "messaging limit none")
      assert.include((yield* shown)[0], { messagingLimit: null })
      yield* numbers("set 1066 --messaging-limit 250")
      const listed = yield* numbers("list")
      const { numbers: forPrograms } = JSON.parse((yield* numbers("list --json")).stdout)
      assert.include(forPrograms[0], { phoneNumber: "+14155550123", messagingLimit: 250, status: "disabled" })
      for (
        const part of ["+14155550123 (default)", "messaging limit 250", "disabled", sandbox.phoneNumber, "available"]
      ) {
        assert.include(listed.stdout, part)
      }

      // numbers of several providers, of which one runs
      const elsewhere = yield* numbers("add +14155550177 --id 1077 --account 4711", { env: { PROVIDER: "whatsapp" } })
      assert.deepStrictEqual([elsewhere.code, elsewhere.stderr], [0, ""])
      assert.include((yield* numbers("list")).stdout, "1077 of account 4711 with whatsapp")
      assert.include((yield* shown)[0], { phoneNumber: "+14155550177", provider: "whatsapp", isDefault: false })
      const gone = yield* Effect.forEach(["1077", number.id], (name) => numbers(`remove ${name}`))
      assert.deepStrictEqual(gone.map(({ code }) => code), [0, 0])
      assert.include(gone[0]!.stdout, "removed +14155550177")
      assert.deepStrictEqual(yield* shown, [sandbox])
      assertRefused(yield* numbers("remove 1077"), /there is no number 1077/)

      const said = [added, set, removed, changed, listed, ...gone].map(({ stderr, stdout }) => stdout + stderr).join("")
      for (const secret of [token, second, env.WAC_MASTER_KEY]) assert.notInclude(said, secret)
    }).pipe(Effect.scoped)
)

it.live("if there are several workspaces, a number is added only to the one that is named", () =>
  Effect.gen(function*() {
    const env = { DATABASE_URL: yield* Effect.flatMap(postgres, freshDatabase), WAC_MASTER_KEY: masterKey() }
    yield* start({ environment: env })
    const run = wac(env)
    const shop = yield* run("workspaces create Shop --number +14155550142 --id 1065 --account 4711 --json")
    assert.deepStrictEqual([shop.code, shop.stderr], [0, ""])
    const { id } = JSON.parse(shop.stdout)

    const add = "numbers add +14155550123 --id 1066 --account 4711"
    assertRefused(yield* run(add), /there are 2 workspaces: name one with --workspace/)
    assert.notInclude((yield* run("numbers list")).stdout, "+14155550123")
    const added = yield* run(`${add} --workspace ${id} --json`)
    assert.deepInclude(JSON.parse(added.stdout), { phoneNumber: "+14155550123", workspaceId: id })
    assertRefused(
      yield* run(`numbers add +14155550124 --id 1066 --account 4711 --workspace ${id}`),
      /1066 of \+14155550123 already belongs/
    )
  }).pipe(Effect.scoped))

it.live("the command explains an invalid command line, and refuses memory storage", () =>
  Effect.gen(function*() {
    const numbers = wac({ DATABASE_URL: "memory:" }, "numbers")
    assertRefused(yield* numbers("list"), /^DATABASE_URL: expected /)
    for (const line of ["", "--help"]) assert.match((yield* numbers(line)).stdout, /SUBCOMMANDS/)
    assert.match((yield* numbers("remove --help")).stdout, /first erase the customers who asked for it/)
    for (
      const [line, words] of [
        ["add 14155550123 --id 1 --account 1", /E\.164/],
        ["add +14155550123 --id 1", /account/],
        ["token +14155550123 --token EAAG", /--token\b/],
        ["token 1066 --base-url https://[", /http or https URL/],
        ["set 1066 --messaging-limit many", /whole number/],
        ["remove", /number/]
      ] as const
    ) {
      const { code, stderr } = yield* numbers(line)
      assert.strictEqual(code, 1)
      assert.match(stderr, words)
    }
  }))

it.live("if the command fails, its process prints the reason and exits with 1", () =>
  Effect.gen(function*() {
    const end = (line: string) => carryOut({ DATABASE_URL: "memory:" }, "numbers", ...line.split(" "))
    const [failed, wrong, forPrograms] = yield* Effect.all(
      [end("token 1066"), end("token"), end("token 1066 --json")],
      { concurrency: 2 }
    )
    assert.deepStrictEqual([failed.code, failed.stdout], [1, ""])
    assert.match(failed.stderr, /^wac: DATABASE_URL: expected [^\n]+\n$/)
    assert.strictEqual(wrong.code, 1)
    assert.match(wrong.stderr, /Missing required argument: number/)
    assert.match(JSON.parse(forPrograms.stderr).error.message, /^DATABASE_URL: expected /)
  }))
