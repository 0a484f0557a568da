// wac inside an application that answers a `Request` with a `Response`, without a framework. Hosts that take a module
// with `fetch` serve it as it is; node.ts serves it on Node.
import { createWac, memory, sandbox, WacError } from "wac"

// What the application has had all along: users, and who is signed in.
const users = [{ id: "42", email: "ana@shop.example", password: "correct horse", isAdmin: true }]
const sessions = new Map<string, typeof users[number]>()
const userOf = (cookie = "") => sessions.get(cookie.match(/session=([\w-]+)/)?.[1] ?? "")

export const wac = await createWac({
  storage: memory(), // in production: postgres(process.env.DATABASE_URL!), and a masterKey
  provider: sandbox(), // in production: whatsapp({ … })
  prefix: "/messaging",
  auth: {
    session: ({ headers }) => {
      const user = userOf(headers.cookie)
      return user && { userId: user.id, email: user.email, role: user.isAdmin ? "owner" : "member" }
    }
  }
})

const signIn = async (request: Request) => {
  const { email, password } = await request.json()
  const user = users.find((user) => user.email === email && user.password === password)
  if (user === undefined) return new Response(null, { status: 401 })
  const session = crypto.randomUUID()
  sessions.set(session, user)
  const headers = { "set-cookie": `session=${session}; HttpOnly; SameSite=Lax; Path=/` }
  return new Response(null, { status: 204, headers })
}

const shipped = async (request: Request, id: string) => {
  const { name, phone } = await request.json()
  const template = { name: "order_update", language: "en_US", bodyParams: [name, id] }
  // the same key whenever this runs for the same order: the customer is told once, however often it runs within 24 hours
  const idempotencyKey = `order-${id}-shipped`
  try {
    return Response.json(await wac.messages.send({ to: phone, type: "template", template }, { idempotencyKey }))
  } catch (error) {
    if (!(error instanceof WacError)) throw error
    return Response.json({ code: error.code, reason: error.reason, message: error.message }, { status: 422 })
  }
}

export default {
  fetch: async (request: Request): Promise<Response> => {
    const { pathname } = new URL(request.url)
    if (pathname.startsWith("/messaging/")) return wac.handler(request)
    if (request.method !== "POST") return new Response(null, { status: 404 })
    const [, order] = pathname.match(/^\/orders\/(\w+)\/shipped$/) ?? []
    if (order !== undefined) return shipped(request, order)
    return pathname === "/sign-in" ? signIn(request) : new Response(null, { status: 404 })
  }
}
