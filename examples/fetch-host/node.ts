// Serves main.ts on Node: `node node.ts`
import { createServer } from "node:http"
import { Readable } from "node:stream"
import { pipeline } from "node:stream/promises"
import app, { wac } from "./main.ts"

const server = createServer(async (incoming, outgoing) => {
  try {
    const { headers, headersDistinct, method = "GET", url = "/" } = incoming
    const request = new Request(new URL(url, `http://${headers.host ?? "localhost"}`), {
      method,
      headers: Object.entries(headersDistinct).flatMap(([name, values = []]) => values.map((value) => [name, value])),
      ...(method === "GET" || method === "HEAD" ? {} : { body: Readable.toWeb(incoming) as BodyInit, duplex: "half" })
    })
    const response = await app.fetch(request)
    outgoing.writeHead(response.status, [...response.headers].flat())
    // piece by piece, since the dashboard's stream of changes ends only with wac
    if (response.body === null) outgoing.end()
    else await pipeline(response.body, outgoing)
  } catch (error) {
    if (outgoing.destroyed) return // the client has left
    console.error(error)
    if (outgoing.headersSent) outgoing.destroy()
    else outgoing.writeHead(500).end()
  }
})

const port = Number(process.env.PORT ?? 3000)
server.listen(port, "127.0.0.1", () => console.log(`listening on http://127.0.0.1:${port}`))
process.once("SIGTERM", () => {
  server.close()
  void wac.close() // at once: the server waits for requests of open dashboards, which end only with this
})
