import { createServer } from "node:http"
import { createWac, memory } from "wac"
import { type Callback, toldBy } from "./callbacks.ts"
import { sms } from "./sms.ts"

const { GATEWAY_TOKEN = "token", GATEWAY_URL = "http://127.0.0.1:4000", PORT = "3000" } = process.env

const provider = sms({ url: GATEWAY_URL, token: GATEWAY_TOKEN, phoneNumber: "+15005550100" })
const wac = await createWac({ storage: memory(), provider })

const server = createServer(async (request, response) => {
  const chunks: Array<Buffer> = []
  for await (const chunk of request) chunks.push(chunk)
  const body = JSON.parse(Buffer.concat(chunks).toString() || "null")
  if (request.url === "/callback" && request.headers.authorization === `Bearer ${GATEWAY_TOKEN}`) {
    const [received] = await wac.inbound.receive([toldBy(body as Callback)])
    response.writeHead(200).end(JSON.stringify(received))
  } else if (request.url === "/orders") {
    const { id, phone } = body as { readonly id: string; readonly phone: string }
    const sent = await wac.messages.send(
      { to: phone, type: "text", text: { body: `Your order ${id} is ready.` } },
      { idempotencyKey: `order-${id}` }
    ).catch((error: Error) => ({ error: error.message }))
    response.writeHead(200).end(JSON.stringify(sent))
  } else response.writeHead(404).end()
})

server.listen(Number(PORT), "127.0.0.1", () => console.log(`listening on 127.0.0.1:${PORT}`))
process.once("SIGTERM", () => server.close(() => void wac.close()))
