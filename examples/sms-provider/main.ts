import { createServer, type IncomingMessage } from "node:http"
import { createWac, memory, type WacError } from "wac"
import { type Callback, toldBy } from "./callbacks.ts"
import { sms } from "./sms.ts"

const { GATEWAY_TOKEN = "token", GATEWAY_URL = "http://127.0.0.1:4000", PORT = "3000" } = process.env

const provider = sms({ url: GATEWAY_URL, token: GATEWAY_TOKEN, phoneNumber: "+15005550100" })
const wac = await createWac({ storage: memory(), provider })

/** The JSON object in a request's body, if it is one of at most 64 KiB. */
const objectIn = async (request: IncomingMessage): Promise<object | undefined> => {
  let text = ""
  for await (const chunk of request.setEncoding("utf8")) if (text.length <= 65_536) text += chunk
  if (text.length > 65_536) return undefined
  try {
    const value = JSON.parse(text)
    return typeof value === "object" && value !== null ? value : undefined
  } catch {
    return undefined
  }
}

const take = async (callback: Callback) => (await wac.inbound.receive([toldBy(callback)]))[0]

const announce = ({ id, phone }: { readonly id: string; readonly phone: string }) =>
  wac.messages.send(
    { to: phone, type: "text", text: { body: `Your order ${id} is ready.` } },
    { idempotencyKey: `order-${id}` }
  )

const server = createServer(async (request, response) => {
  const isCallback = request.url === "/callback" && request.headers.authorization === `Bearer ${GATEWAY_TOKEN}`
  if (!isCallback && request.url !== "/orders") return response.writeHead(404).end()
  try {
    const body = await objectIn(request)
    if (body === undefined) return response.writeHead(400).end()
    const result = isCallback ? await take(body as Callback) : await announce(body as Parameters<typeof announce>[0])
    return response.writeHead(200).end(JSON.stringify(result))
  } catch (error) {
    // 400 for a wrong field; after 500 or 503, the gateway calls again
    const { message, status = 500 } = error as WacError
    return response.writeHead(status).end(JSON.stringify({ error: message }))
  }
})

server.listen(Number(PORT), "127.0.0.1", () => console.log(`listening on 127.0.0.1:${PORT}`))
process.once("SIGTERM", () => {
  server.close()
  void wac.close() // at once: if you serve a dashboard, its open requests end only with this
})
