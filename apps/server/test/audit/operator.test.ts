/**
 * The audit of the operator's commands (contract §12): each that changes something, in the workspace that it changes.
 */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import * as checks from "../checks.ts"
import { wac } from "../commandLine.ts"
import { call, environment, ownPage, start } from "../harness.ts"
import { freshDatabase, masterKey, postgres } from "../processes.ts"

it.live("each operator command that changes something is in its workspace's audit, without a secret", () =>
  Effect.gen(function*() {
    const variables = { DATABASE_URL: yield* Effect.flatMap(postgres, freshDatabase), WAC_MASTER_KEY: masterKey() }
    const { url } = yield* start({ environment: variables })
    const [token, password] = ["EAAG-a-token-of-its-own", "a password of the operator's"]
    for (
      const [line, input] of [
        ["numbers list", ""],
        ["numbers add +14155550123 --id 1066 --account 4711 --token-from -", token],
        ["numbers token +14155550123 --token-from -", `${token}-newer`],
        ["numbers token +14155550123 --remove", ""],
        ["numbers set +14155550123 --sending off --messaging-limit 250", ""],
        ["numbers set +14155550123 --unblock", ""],
        ["numbers remove +14155550123", ""],
        ["export +14155550177", ""],
        // a name that the provider gave, in no usual form
        ["export legacy.customer-1", ""],
        ["erase +14155550177", ""],
        ["contacts opt-out +14155550177", ""],
        ["contacts opt-out +14155550177 --end", ""],
        ["members list", ""],
        ["members reset-password --password-from -", password],
        ["members unlink", ""]
      ] as const
    ) assert.strictEqual((yield* wac(variables)(line, { input })).code, 0, line)
    const { stdout: link } = yield* wac(variables)("members portal-link --role developer --visitor Ana")

    const signedIn = yield* call(`${url}/internal/session`, {
      headers: ownPage,
      body: { email: environment.WAC_OWNER_EMAIL, password }
    })
    const cookie = signedIn.headers.getSetCookie()[0]!.split(";")[0]!
    const audit = yield* call(`${url}/internal/audit`, { headers: { cookie } })
    const [signIn, ...entries] = audit.body.data as ReadonlyArray<Record<string, unknown>>
    assert.strictEqual(signIn!["action"], "session.sign_in")
    const number = { phoneNumber: "+14155550123" }
    assert.deepStrictEqual(entries.map(({ action, by, detail }) => [action, by, detail]).reverse(), [
      ["number.add", null, number],
      ["number.change", null, { credentials: "its own" }],
      ["number.change", null, { credentials: "the configuration's" }],
      ["number.change", null, { messagingLimit: "250", sending: "off" }],
      ["number.change", null, { block: "lifted" }],
      ["number.remove", null, number],
      [
        "customer.erase",
        null,
        {
          deliveries: "0",
          events: "0",
          outbox: "0",
          messages: "0",
          campaignRows: "0",
          inboundMessages: "0",
          conversations: "0",
          posts: "0",
          contacts: "0",
          files: "0"
        }
      ],
      ["contact.opt_out", null, null],
      ["contact.opt_in", null, null],
      ["password.reset", null, { email: environment.WAC_OWNER_EMAIL }],
      ["member.change", null, { email: environment.WAC_OWNER_EMAIL, identity: "unlinked" }],
      ["portal.link", null, { role: "developer", visitor: "Ana" }]
    ])
    // a visitor has no account: in the audit, the link's id stands for them
    assert.match(String(entries[0]!["target"]), checks.idShape("ses"))
    const { hash } = new URL(link)
    assert.isAbove(hash.length, 20)
    for (const secret of [token, password, "14155550177", hash.slice(1)]) assert.notInclude(audit.text, secret)
  }).pipe(Effect.scoped, Effect.orDie))
