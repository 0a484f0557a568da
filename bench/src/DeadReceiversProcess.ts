/**
 * Dead receivers of webhooks in a child process. A third hang (accept the request and never respond), a third refuse
 * the connection, and a third drip (respond 200 at one byte per second). Each has a port, and so an origin, of its own.
 */
import { createServer, type RequestListener } from "node:http"
import type { AddressInfo } from "node:net"
import * as Child from "./Child.ts"

const hang: RequestListener = (request) => {
  request.resume()
}

const drip: RequestListener = (request, response) => {
  request.resume()
  response.writeHead(200, { "content-type": "text/plain", "content-length": 1000 })
  const timer = setInterval(() => response.write("."), 1000)
  response.once("close", () => clearInterval(timer))
}

const listen = (listener: RequestListener): Promise<{ readonly url: string; readonly close: () => Promise<void> }> =>
  new Promise((resolve, reject) => {
    const server = createServer(listener)
    server.once("error", reject).listen(0, "127.0.0.1", () =>
      resolve({
        url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
        close: () => new Promise((closed) => server.close(() => closed()))
      }))
  })

Child.serve<{ readonly count: number }, never>(async ({ count }) => ({
  ready: await Promise.all(Array.from({ length: count }, async (_, i) => {
    const { close, url } = await listen(i % 3 === 0 ? hang : drip)
    // close the port, so that connections to it are refused
    if (i % 3 === 1) await close()
    return url
  }))
}))
