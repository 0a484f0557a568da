import { createServer } from "node:http"
import type { AddressInfo } from "node:net"

/** Recipients for whom the simulated gateway behaves in its own way. It accepts texts to any other number. */
export const numbers = {
  refused: "+15005550001",
  throttled: "+15005550002",
  broken: "+15005550003",
  silent: "+15005550004"
}

interface Request {
  readonly to: string
  readonly text: string
  readonly reference: string
}

/** Starts a simulated gateway on loopback. */
export const start = async (token: string) => {
  const texts: Array<Request> = []
  const server = createServer(async (request, response) => {
    const chunks: Array<Buffer> = []
    for await (const chunk of request) chunks.push(chunk)
    const answer = (status: number, body: object, headers = {}) =>
      response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body))
    if (request.headers.authorization !== `Bearer ${token}`) return answer(401, { code: "unauthorized" })
    const text: Request = JSON.parse(Buffer.concat(chunks).toString())
    switch (text.to) {
      case numbers.refused:
        return answer(422, { code: "no_such_number", message: "this number is not in service" })
      case numbers.throttled:
        return answer(429, { code: "too_fast" }, { "retry-after": "2" })
      case numbers.broken:
        return request.socket.destroy()
      case numbers.silent:
        return
      default:
        texts.push(text)
        return answer(201, { id: `sms-${texts.length}` })
    }
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    texts,
    close: () => {
      server.closeAllConnections()
      server.close()
    }
  }
}
