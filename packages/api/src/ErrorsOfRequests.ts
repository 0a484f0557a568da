/**
 * The errors of a request that is wrong, or of a caller who is: see {@link file://./ErrorReference.ts}.
 */
import { type Entry, type Reasons, retries } from "./ErrorEntry.ts"

export const invalidBody: { readonly [R in Reasons["invalid_body"]]: Entry } = {
  malformed_json: {
    when: "The body is not JSON, not UTF-8, or did not arrive whole.",
    remedy: "Send what a JSON encoder writes; never put JSON together from strings.",
    retry: retries.no,
    example: { message: "the body is not valid JSON" }
  },
  missing_field: {
    when: "A field that is required is not there; `param` names it.",
    remedy: "Add the field.",
    retry: retries.no,
    example: { message: "template.name is required", param: "template.name" }
  },
  invalid_field: {
    when: "A field, a query parameter or a cursor has a value that it cannot have; `param` names it.",
    remedy: "Correct the value. Telephone numbers are E.164: `+` and digits only.",
    retry: retries.no,
    example: {
      message: "to: must be a phone number in E.164 format: + and digits only, possible in its country",
      param: "to"
    }
  },
  unknown_field: {
    when: "A field or query parameter that does not exist; a misspelt one must not send a message with holes.",
    remedy: "Correct its spelling, or leave it out.",
    retry: retries.no,
    example: { message: "there is no field template.bodyparams here", param: "template.bodyparams" }
  },
  missing_idempotency_key: {
    when: "The request needs the header `Idempotency-Key` and has none.",
    remedy: "Make one unique key for each send, before its first attempt, and keep it over retries.",
    retry: retries.no,
    example: { message: "the header Idempotency-Key is required", param: "Idempotency-Key" }
  },
  invalid_idempotency_key: {
    when: "The header `Idempotency-Key` is not 1 to 255 visible ASCII characters.",
    remedy: "Use a UUID, or your own id of what you send.",
    retry: retries.no,
    example: { message: "Idempotency-Key must be 1 to 255 visible ASCII characters", param: "Idempotency-Key" }
  },
  template_params_mismatch: {
    when: "`bodyParams` has more or fewer values than the template has placeholders, or the provider refused them.",
    remedy: "Compare with `variables` of the template in `GET /v1/templates`.",
    retry: retries.no,
    example: {
      message: "the template order_update in en_US takes 2 values, 1 were given",
      param: "template.bodyParams"
    }
  },
  undeliverable: {
    when: "The provider says that `to` cannot be reached: no WhatsApp account, or not one that may be written to.",
    remedy: "Ask the customer for the number again, or write another way.",
    retry: "No: the answer is kept for the Idempotency-Key, and the message is `failed`.",
    example: {
      message: "the recipient cannot be reached",
      param: "to",
      provider: { code: "131026", message: "Message undeliverable" }
    }
  },
  too_large: {
    when: "The body is larger than 64 KiB.",
    remedy: "Send less. No valid request comes near it.",
    retry: retries.no,
    example: { message: "the body is larger than 65536 bytes" }
  },
  unsupported_media_type: {
    when:
      "The header `Content-Type` is not `application/json`, or `Content-Encoding` says that the body is compressed.",
    remedy: "Send `Content-Type: application/json`, and the body as it is.",
    retry: retries.no,
    example: { message: "the body must be JSON: Content-Type: application/json", param: "Content-Type" }
  }
}

export const unauthorized: { readonly [R in Reasons["unauthorized"]]: Entry } = {
  missing_key: {
    when: "The request has no header `Authorization`.",
    remedy: "Send `Authorization: Bearer wac_live_…`.",
    retry: retries.no,
    example: { message: "an API key is required: Authorization: Bearer wac_live_…" }
  },
  invalid_key: {
    when: "What `Authorization` holds is not a key of this service.",
    remedy: "Look for `Bearer` missing before it, a key cut off, a line break at its end, or one of another server.",
    retry: retries.no,
    example: { message: "the API key is not valid" }
  },
  expired_key: {
    when: "The time up to which the key was made to be valid is over.",
    remedy: "Create a new key and use it; see [rotation](guides/rotation.md).",
    retry: retries.no,
    example: { message: "the API key has expired" }
  },
  revoked_key: {
    when: "Somebody revoked the key; requests that were under way are stopped too.",
    remedy: "Use the key that took its place, or create one.",
    retry: retries.no,
    example: { message: "the API key was revoked" }
  },
  missing_session: {
    when: "A dashboard address was called without a live session, or with an API key.",
    remedy: "Sign in: `POST /internal/session`. Sessions end after 12 hours unused, and after 7 days.",
    retry: retries.no,
    example: { message: "this needs a dashboard session; an API key does not open it" }
  },
  invalid_credentials: {
    when: "E-mail address and password do not belong together, or the set-up link is wrong or used.",
    remedy: "Try again with care: failures are limited. The log of a new server's start has its set-up link.",
    retry: retries.no,
    example: { message: "the e-mail address or the password is not right" }
  },
  invalid_signature: {
    when: "The request's `X-Service-Signature` is not right.",
    remedy: "Sign `<t>.<METHOD>\\n<path and query>\\n<Idempotency-Key>\\n<raw body>` with the key's signing secret.",
    retry: retries.no,
    example: { message: "the request's signature is not right: signature_mismatch", param: "X-Service-Signature" }
  },
  stale_signature: {
    when: "The request's signature was made more than 300 seconds from now.",
    remedy: "Set your clock by NTP, and sign each attempt anew.",
    retry: "Yes, signed anew.",
    example: {
      message: "the request's signature is more than 300 seconds away from the present",
      param: "X-Service-Signature"
    }
  },
  missing_signature: {
    when: "The key was created with `requireSignature`, and the request is not signed.",
    remedy: "Sign the request, or use a key that does not ask for it.",
    retry: retries.no,
    example: {
      message: "this API key requires signed requests; the header X-Service-Signature is missing",
      param: "X-Service-Signature"
    }
  }
}
