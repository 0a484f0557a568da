/**
 * Every command of the packed server, in one order in which each has something to do. The commands are those that its
 * completions list: one that no line here runs fails.
 */
import { Totp } from "@wac/core"
import * as PostgresServer from "@wac/testbed/PostgresServer"
import { Redacted } from "effect"
import { randomBytes } from "node:crypto"
import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { assert, describe, it, onTestFinished } from "vitest"
import { did, hello, owner, people, send } from "./Caller.ts"
import * as PackedOnNodes from "./PackedOnNodes.ts"
import * as Surroundings from "./Surroundings.ts"

const { nodeOf, packed } = PackedOnNodes.install()

/** A receiver that accepts every event. */
const receive = async (): Promise<string> => {
  const server = createServer((request, response) => {
    request.resume().on("end", () => response.end())
  }).listen(0, "127.0.0.1")
  await once(server, "listening")
  onTestFinished(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
}

/** The commands that have no others, from the completions for a shell: one process tells all. */
const listed = async (node: string): Promise<ReadonlyArray<string>> => {
  const { code, stdout } = await packed().run(node, ["--completions", "fish"], {})
  assert.strictEqual(code, 0)
  return [...stdout.matchAll(/^complete -c wac -n '((?:(?:; and )?__fish_seen_subcommand_from [a-z-]+)+)' -f$/gm)]
    .map(([, names]) => names!.split(/(?:; and )?__fish_seen_subcommand_from /).join(" ").trim())
}

describe.each(PackedOnNodes.versions)("the packed server on Node %s", (version) => {
  it("the packed server carries out every command that its completions list", async () => {
    const node = nodeOf(version)
    const postgres = await PostgresServer.start("fsync=off")
    onTestFinished(postgres.remove)
    const variables = {
      DATABASE_URL: postgres.url,
      WAC_MASTER_KEY: randomBytes(32).toString("base64"),
      WAC_OWNER_EMAIL: owner.email,
      WAC_OWNER_PASSWORD: owner.password,
      WEBHOOK_ALLOW_INSECURE: "true",
      WEBHOOK_ALLOW_CIDRS: "127.0.0.0/8",
      PUBLIC_URL: "http://127.0.0.1:8080"
    }
    const commands = await listed(node)
    assert.includeMembers([...commands], ["start", "doctor", "members portal-link"])
    assert.isAbove(commands.length, 40)
    const carried = new Set<string>()
    /** Carries out a line, which prints one line of JSON, or several; returns the first. */
    const wac = async (
      line: string,
      { code = 0, input = "", more = {} } = {}
    ): Promise<ReturnType<typeof JSON.parse>> => {
      const words = line.split(" ")
      const ended = await packed().run(node, [...words, "--json"], { ...variables, ...more }, input)
      assert.strictEqual(ended.code, code, `${line}: ${ended.stdout}${ended.stderr}`)
      carried.add(commands.find((command) => line === command || line.startsWith(`${command} `))!)
      return JSON.parse(ended.stdout.split("\n")[0]!)
    }

    assert.strictEqual((await wac("migrate")).before, 0)
    const server = await packed().start(node, variables)
    carried.add("start")
    const { authorization, session } = await people(server.url)
    await did(`${server.url}/internal/webhook`, { headers: session, json: { url: await receive() }, method: "PUT" })
    await send(server.url, authorization)

    // a database that does not wait for its disk is wrong for a server, and all else is right
    const { findings } = await wac("doctor", { code: 1 })
    assert.deepStrictEqual(
      findings.filter(({ state }: { readonly state: string }) => state === "wrong").length,
      1,
      JSON.stringify(findings)
    )

    const number = "+14155550142"
    await wac(`numbers add ${number} --id 1066 --account 4711 --token-from -`, { input: "a-token\n" })
    await wac(`numbers token ${number} --token-from -`, { input: "another-token\n" })
    await wac(`numbers set ${number} --tier standard --sending off`)
    assert.include(JSON.stringify(await wac("numbers list")), number)
    assert.include((await wac("templates types")).declaration, "readonly \"order_update\"")
    await wac(`numbers remove ${number}`)

    const { id } = await wac("keys create trial")
    assert.include(JSON.stringify(await wac("keys list")), id)
    await wac(`keys revoke ${id}`)

    assert.strictEqual((await wac("webhook test")).outcome, "delivered")
    await wac("webhook replay --since 2026-01-01")
    await did(`${server.url}/internal/webhook/pause`, { method: "POST", headers: session })
    await wac("webhook resume")
    assert.strictEqual((await wac("webhook show")).status, "active")

    const { deliveries } = await wac("deliveries find --limit 1 --status delivered")
    assert.strictEqual((await wac(`deliveries show ${deliveries[0].id}`)).id, deliveries[0].id)
    const posted = await wac("deliveries find --event-type message.sent")
    assert.strictEqual((await wac(`deliveries retry ${posted.deliveries[0].id}`)).status, "pending")

    assert.deepStrictEqual(await wac("messages outbox"), { messages: [], hasMore: false, next: null })
    const { messages } = await wac("messages find --limit 1")
    assert.strictEqual((await wac(`messages show ${messages[0].messageId}`)).messageId, messages[0].messageId)
    assert.isFalse((await wac("messages confirm")).released)
    const queue = async (json: object) => {
      const headers = { authorization, "idempotency-key": crypto.randomUUID(), prefer: "respond-async" }
      return (await did(`${server.url}/v1/messages`, { headers, json })).body.message_id as string
    }
    const later = await queue({ ...hello, send_at: new Date(Date.now() + 3_600_000).toISOString() })
    assert.strictEqual((await wac(`messages cancel ${later}`)).status, "cancelled")
    // no window is open, which is judged when it is sent
    const failed = await queue({ to: hello.to, type: "text", text: { body: "Hello?" } })
    // asked of the server: each command is a process
    await Surroundings.until("the failure", async () => {
      const { body } = await did(`${server.url}/v1/messages/${failed}`, { headers: { authorization } })
      return body.status === "failed" ? body : undefined
    })
    assert.strictEqual((await wac(`messages retry ${failed}`)).failed, failed)

    await wac("campaigns list")
    await wac("campaigns confirm")

    await wac("contacts opt-out +15551234567")

    const { result } = await wac("mcp", {
      input: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" }),
      more: { WAC_URL: `${server.url}/v1`, WAC_API_KEY: authorization.replace("Bearer ", "") }
    })
    assert.isNotEmpty(result.tools)

    await wac("export +15551234567")
    await wac("erase +15551234567")

    await wac("members invite ana@shop.example --role developer")
    assert.include(JSON.stringify(await wac("members list")), owner.email)
    await wac("members portal-link")
    const { secret } = (await did(`${server.url}/internal/factor`, { headers: session, method: "PUT" })).body
    await did(`${server.url}/internal/factor/confirm`, {
      headers: session,
      json: { code: Totp.codeAt(Redacted.make(secret), Date.now()) }
    })
    await wac(`members reset-factor ${owner.email}`)
    await wac(`members unlink ${owner.email}`)
    await wac(`members reset-password ${owner.email} --password-from -`, { input: "another horse\n" })

    await wac("workspaces create Shop --number +14155550143 --id 1067 --account 4711")
    const shop = (await wac("workspaces list")).workspaces.at(-1).id
    await wac(`workspaces tier ${shop} standard`)
    await wac(`workspaces quota ${shop} 10000`)
    await wac(`workspaces suspend ${shop}`)
    await wac(`workspaces unsuspend ${shop}`)

    assert.deepStrictEqual(commands.filter((command) => !carried.has(command)), [])
    await server.stop()
  })
})
