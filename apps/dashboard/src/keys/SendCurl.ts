/** The `curl` command for a first send, with an API key filled in. Pure. */

const body = JSON.stringify({
  to: "+15551234567",
  type: "template",
  template: { name: "hello_world", language: "en_US" }
})

/**
 * A command that sends a message. With a signing secret, it also signs the request, as some keys require
 * (contract §5).
 */
export const sendCurl = (address: string, apiKey: string, idempotencyKey: string, signingSecret?: string): string => {
  const path = `${new URL(address).pathname.replace(/\/$/, "")}/v1/messages`
  const request = [
    `curl -sS ${address}/v1/messages \\`,
    `  -H 'Authorization: Bearer ${apiKey}' \\`,
    `  -H 'Content-Type: application/json' \\`,
    `  -H 'Idempotency-Key: ${idempotencyKey}' \\`
  ]
  if (signingSecret === undefined) return [...request, `  -d '${body}'`].join("\n")
  return [
    `BODY='${body}'`,
    "T=$(date +%s)",
    `SIGNATURE=$(printf '%s.POST\\n%s\\n%s\\n%s' "$T" '${path}' '${idempotencyKey}' "$BODY" |`,
    `  openssl dgst -sha256 -hmac '${signingSecret}' -r | cut -d ' ' -f 1)`,
    ...request,
    `  -H "X-Service-Signature: t=$T,v1=$SIGNATURE" \\`,
    `  -d "$BODY"`
  ].join("\n")
}
