/**
 * The command `mcp`: the Model Context Protocol over standard input and output, for programs that start their tools as
 * processes. It passes each message on to `/mcp` of a running server, which alone knows the scopes of the key, so both
 * transports have the same tools (contract §18). Nothing but messages of the protocol goes to standard output.
 */
import { McpAnswer } from "@wac/api"
import { Console, Duration, Effect, Predicate, Redacted, Stdio, Stream } from "effect"
import { Command } from "effect/cli"
import * as OperatorCommand from "./OperatorCommand.ts"
import { BadVariable, type Environment } from "./VariableText.ts"
import * as VariableText from "./VariableText.ts"

/** How many messages are passed on concurrently; further messages wait. */
const concurrency = 64

/** The timeout of one message: longer than the server takes for a send, including its waits. */
const timeout = Duration.seconds(30)

interface Server {
  readonly url: URL
  readonly apiKey: Redacted.Redacted
}

const serverOf = Effect.fnUntraced(function*(variables: Environment): Effect.fn.Return<Server, BadVariable> {
  yield* VariableText.checkClientNames(variables)
  const address = variables["WAC_URL"] ?? ""
  const url = URL.parse(address)
  if (url === null || !/^https?:$/.test(url.protocol) || !/\/v1\/?$/.test(url.pathname)) {
    return yield* new BadVariable({
      variable: "WAC_URL",
      expected: "the http or https address of the API, whose path ends in /v1"
    })
  }
  url.pathname = url.pathname.replace(/\/v1\/?$/, "/mcp")
  const apiKey = yield* VariableText.secret(variables, "WAC_API_KEY")
  if (apiKey === undefined || !/^[\x21-\x7e]+$/.test(apiKey)) {
    return yield* new BadVariable({ variable: "WAC_API_KEY", expected: "an API key, wac_live_…" })
  }
  return { url, apiKey: Redacted.make(apiKey) }
})

interface Message {
  readonly id?: unknown
  readonly method?: unknown
}

/** Whether a message is a notification or a response, to which nothing is answered. */
const isSilent = (message: Message): boolean =>
  "method" in message ? !("id" in message) : "result" in message || "error" in message

/** The server's response, or why there is none. */
type Response =
  | { readonly status: number; readonly body: unknown }
  | { readonly status: undefined; readonly why: string }

const posted = ({ apiKey, url }: Server, text: string): Effect.Effect<Response> =>
  Effect.tryPromise(async (signal) => {
    const response = await fetch(url, {
      method: "POST",
      headers: {
        authorization: `Bearer ${Redacted.value(apiKey)}`,
        "content-type": "application/json",
        accept: "application/json, text/event-stream"
      },
      body: text,
      // following a redirect would send the key to its target
      redirect: "manual",
      signal
    })
    const body = await response.text()
    return { status: response.status, body: body === "" ? undefined : JSON.parse(body) as unknown }
  }).pipe(
    Effect.timeout(timeout),
    Effect.match({
      onSuccess: (response): Response => response,
      onFailure: (error): Response => ({
        status: undefined,
        why: Predicate.isTagged(error, "TimeoutError")
          ? "the server did not respond in time"
          : "the server could not be reached, or something else responded"
      })
    })
  )

const refusal = (id: unknown, code: number, message: string, data?: unknown) => ({
  jsonrpc: "2.0",
  id: id ?? null,
  error: { code, message, ...(data === undefined ? {} : { data }) }
})

/**
 * The response to the program that asked: for a call of a tool, every error is a result that its model reads. A message
 * without an id, such as a batch, has the server's error about it.
 */
const answerOf = ({ id, method }: Message, response: Response): object => {
  const isCall = method === "tools/call"
  if (response.status === undefined) {
    return isCall
      ? { jsonrpc: "2.0", id, result: McpAnswer.lost(response.why) }
      : refusal(id, -32000, response.why)
  }
  const { body, status } = response
  if (Predicate.hasProperty(body, "jsonrpc")) return { ...body, ...(id === undefined ? {} : { id }) }
  if (!McpAnswer.isErrorBody(body)) return answerOf({ id, method }, { status: undefined, why: `status ${status}` })
  return isCall
    ? { jsonrpc: "2.0", id, result: McpAnswer.failed(body, { sends: false }) }
    : refusal(id, -32000, body.error.message, body.error)
}

const parsed = (line: string): unknown => {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}

const passOn = Effect.fnUntraced(function*(server: Server, line: string) {
  const message = parsed(line)
  if (message === undefined) return yield* Console.log(JSON.stringify(refusal(null, -32700, "a line must be JSON")))
  const response = yield* posted(server, line)
  const asked: Message = Predicate.isObject(message) ? message : {}
  if (!isSilent(asked)) yield* Console.log(JSON.stringify(answerOf(asked, response)))
})

export const mcp = Command.make(
  "mcp",
  {},
  Effect.fnUntraced(function*() {
    const server = yield* serverOf(yield* OperatorCommand.Variables)
    const { stdin } = yield* Stdio.Stdio
    yield* Stream.decodeText(stdin).pipe(
      Stream.splitLines,
      Stream.filter((line) => line.trim() !== ""),
      Stream.mapEffect((line) => passOn(server, line), { concurrency, unordered: true }),
      Stream.runDrain
    )
  })
).pipe(
  Command.withDescription(
    "Give an AI agent tools for messages over standard input and output (MCP), with the API at WAC_URL and the key in " +
      "WAC_API_KEY"
  ),
  Command.withShortDescription("Give an AI agent tools for messages (MCP)")
)
