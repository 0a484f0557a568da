/**
 * Contestant (d)'s child process: reads each request's body and sends it back, to show what HTTP alone costs in
 * Node.js.
 */
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import * as Child from "./Child.ts"

Child.serve<null, never>(() =>
  new Promise((resolve) => {
    const server = createServer((request, response) => {
      const chunks: Array<Buffer> = []
      request.on("data", (chunk: Buffer) => chunks.push(chunk)).on("end", () => {
        const body = Buffer.concat(chunks)
        response.writeHead(200, { "content-type": "application/json", "content-length": body.length }).end(body)
      })
    })
    server.listen(0, "127.0.0.1", () =>
      resolve({ ready: { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` } }))
  })
)
