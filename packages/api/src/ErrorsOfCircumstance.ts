/**
 * The errors of requests that are valid but cannot be fulfilled at present: see {@link file://./ErrorReference.ts}.
 */
import { type Entry, type Reasons, retries } from "./ErrorEntry.ts"

export const forbidden: { readonly [R in Reasons["forbidden"]]: Entry } = {
  missing_scope: {
    when: "The key lacks the scope that the endpoint requires.",
    remedy: "Create a key with the scope that the message names.",
    retry: retries.no,
    example: { message: "the API key lacks the scope messages:read" }
  },
  role_not_allowed: {
    when: "Your role in the workspace does not allow this, or you sign in and have no role in any workspace.",
    remedy: "Ask someone who has the role that the message names, or an admin to make you a member.",
    retry: retries.no,
    example: { message: "this requires the role developer; yours is member" }
  },
  fresh_session_required: {
    when:
      "The endpoint requires a session whose person proved their presence within the last 10 minutes: by signing in, " +
      "or by confirming their password or a code of their second factor.",
    remedy:
      "Confirm the password or a code with `POST /internal/session/confirm`, or with `AUTH=oidc` sign in again at " +
      "`/internal/oidc/sign-in?fresh=true`. Then repeat the request. The dashboard does this itself.",
    retry: retries.changed,
    example: {
      message:
        "this requires a sign-in or a confirmed password within the last 10 minutes: confirm your password with " +
        "POST /internal/session/confirm, or sign in again, then repeat the request"
    }
  },
  cross_site: {
    when: "A request that changes something comes from a page of another origin, or does not declare its origin.",
    remedy: "From a script, send `Sec-Fetch-Site: same-origin` and no `Origin`. In a browser, open the pages at " +
      "`PUBLIC_URL`; set it if people reach the service by a name, by `https` or through a proxy.",
    retry: retries.no,
    example: {
      message: "the request does not come from this service's own pages; outside a browser, send " +
        "Sec-Fetch-Site: same-origin",
      param: "Sec-Fetch-Site"
    }
  },
  failed_handshake: {
    when: "The request to verify the provider's webhook has a different verify token from the configured one.",
    remedy: "At Meta, enter the verify token that `WHATSAPP_VERIFY_TOKEN` holds.",
    retry: retries.no,
    example: {
      message: "the handshake failed: this is not a valid verification request with the configured verify token"
    }
  },
  outside_service_window: {
    when: "The message is not a template, and the customer has not written within the last 24 hours.",
    remedy: "Send an approved template. Once the customer replies, messages of every kind are allowed again.",
    retry: retries.changed,
    example: {
      message: "free-form messages may be sent only within 24 hours after the recipient last wrote; use a template",
      param: "type"
    }
  },
  template_not_found: {
    when: "The workspace has no template of this name in this language; the language must match exactly.",
    remedy: "Compare with `GET /v1/templates`: `en` is not `en_US`. A new template appears within the hour.",
    retry: retries.changed,
    example: { message: "there is no template order_updates in en_US", param: "template.name" }
  },
  template_not_approved: {
    when: "The template is pending, rejected, paused or disabled at the provider.",
    remedy:
      "See `status` and `rejection_reason` in `GET /v1/templates`. Use another template until this one is approved.",
    retry: retries.changed,
    example: { message: "the template pending_review in en_US is pending, not approved", param: "template.name" }
  },
  opted_out: {
    when: "The customer has opted out, for example with STOP. Only templates other than marketing are still sent.",
    remedy: "Respect the opt-out. It ends when the customer sends START, or when you opt them in with their consent " +
      "(`DELETE /v1/contacts/{name}/opt-out`).",
    retry: retries.changed,
    example: { message: "the recipient has opted out", param: "to" }
  },
  quota_exhausted: {
    when:
      "The workspace has used up its message quota for this calendar month (UTC), or as many of its messages as may " +
      "wait are queued. The message says which.",
    remedy: "Wait for the next month, or until queued messages were sent, or ask the operator to raise the quota.",
    retry: retries.changed,
    example: { message: "the workspace's quota for this month is used up" }
  },
  messaging_limit_reached: {
    when: "The phone numbers of the portfolio have reached their limit of customers outside a service window within " +
      "24 hours.",
    remedy:
      "Wait, use a phone number of another portfolio (`from`), or write to customers whose service window is open.",
    retry: retries.changed,
    example: {
      message:
        "the phone numbers of this portfolio have reached their messaging limit for customers outside a service " +
        "window within 24 hours"
    }
  },
  sender_not_available: {
    when:
      "The workspace has no such phone number, the operator has switched it off, the provider has blocked it, or the " +
      "API key is bound to other numbers.",
    remedy:
      "`GET /internal/phone-numbers` shows which of these applies, since when and why, and `GET /internal/api-keys/:id` " +
      "the numbers of a key.",
    retry: retries.changed,
    example: { message: "the workspace has no such phone number to send from", param: "from" }
  },
  workspace_suspended: {
    when: "The operator has suspended the workspace.",
    remedy: "Ask the operator.",
    retry: retries.changed,
    example: { message: "the workspace is suspended" }
  },
  provider_policy: {
    when: "The provider refused the message under its policy; `provider` has the provider's code and message.",
    remedy: "Read the provider's policy for that code. Sending the message again can lower the phone number's rating.",
    retry: "No: the response is stored for the Idempotency-Key, and the message is `failed`.",
    example: {
      message: "the provider refused the message under its policy",
      provider: { code: "131049", message: "This message was not delivered to maintain healthy ecosystem engagement." }
    }
  },
  phone_number_required: {
    when: "The message is an authentication template, but `to` is not a phone number.",
    remedy: "Send the template to the customer's phone number.",
    retry: retries.no,
    example: { message: "an authentication template can be sent only to a phone number", param: "to" }
  },
  media_quota: {
    when: "The file would take the workspace's media beyond their quota in bytes.",
    remedy: "Delete media that you no longer need, or ask the operator to raise the quota.",
    retry: retries.changed,
    example: { message: "the workspace's media would exceed its quota" }
  },
  frequency_cap: {
    when: "The customer has received as many marketing templates in recent days as the operator allows.",
    remedy: "Send later. The cap does not apply to utility and authentication templates.",
    retry: retries.changed,
    example: { message: "the recipient has received as many marketing messages as the cap allows", param: "to" }
  },
  holdout: {
    when: "The customer belongs to the holdout: the share of customers that a campaign skips, to measure its effect.",
    remedy: "Do nothing: the campaign skips this customer on purpose.",
    retry: retries.no,
    example: { message: "the recipient belongs to the campaign's holdout", param: "to" }
  },
  campaign_state: {
    when: "The campaign's status does not allow the change, such as starting a draft that was not checked.",
    remedy: "Check the campaign's status, and take the step that it requires first.",
    retry: retries.no,
    example: { message: "a campaign with status draft cannot be started" }
  },
  already_sent: {
    when: "The message that is to be cancelled was sent, or its sending has begun.",
    remedy: "Nothing can take it back. `GET /v1/messages/{id}` shows what has become of it.",
    retry: retries.no,
    example: { message: "the message was sent, or is being sent" }
  },
  not_queued: {
    when: "The message that is to be cancelled failed before it was sent, or a campaign queued it.",
    remedy: "A message that failed is not sent any more. Cancel a campaign to cancel its messages.",
    retry: retries.no,
    example: { message: "the message is not queued any more: it failed" }
  }
}

export const idempotencyConflict: { readonly [R in Reasons["idempotency_conflict"]]: Entry } = {
  payload_mismatch: {
    when: "The Idempotency-Key was used within the last 24 hours with a different body.",
    remedy: "Use one key per send. Derive it from what you send (an order's id), not from the time or a counter.",
    retry: "No. A request with a new key is a new send.",
    example: { message: "the Idempotency-Key was already used with a different body" }
  }
}

export const rateLimited: { readonly [R in Reasons["rate_limited"]]: Entry } = {
  workspace: {
    when: "The workspace's requests come faster than its tier allows.",
    remedy: "Spread the requests; the `RateLimit` header of every response shows what is left.",
    retry: retries.waiting,
    example: { message: "the workspace sends requests faster than its tier allows" }
  },
  phone_number: {
    when: "The phone number sends faster than its tier allows.",
    remedy: "Spread the sends, or use more phone numbers (`from`).",
    retry: retries.waiting,
    example: { message: "the phone number sends faster than its tier allows" }
  },
  pair: {
    when:
      "One phone number sends to one customer too fast. By default, the limit is one message every 6 seconds, with " +
      "bursts of 45.",
    remedy: "Combine messages, or send them more slowly.",
    retry: retries.waiting,
    example: { message: "the phone number sends to this recipient faster than the pair limit allows" }
  },
  provider: {
    when: "The provider throttles the service. Nothing was sent.",
    remedy: "Slow down. If this persists, set the phone number's tier to the rate that the provider allows.",
    retry: retries.waiting,
    example: {
      message: "the provider accepts no more messages at the moment",
      provider: { code: "130429", message: "Rate limit hit" }
    }
  },
  login: {
    when: "There were too many failed sign-ins for this account or from this address.",
    remedy: "Wait. Behind a proxy, set `TRUST_PROXY`; otherwise all people share the proxy's address.",
    retry: "Yes, after the time in `Retry-After`.",
    example: { message: "too many failed sign-ins; wait before the next" }
  }
}

export const serverError: { readonly [R in Reasons["server_error"]]: Entry } = {
  internal: {
    when: "The service failed. Its log has the error under the `request_id`.",
    remedy: "Report the `request_id` to the operator.",
    retry: retries.backoff,
    example: { message: "an error in the service" }
  },
  provider_error: {
    when: "The provider returned an error that the request did not cause. Nothing was sent.",
    remedy:
      "If the error persists, see `provider` for its cause. Only the operator can replace an expired access token.",
    retry: retries.backoff,
    example: {
      message: "the provider returned an error; nothing was sent",
      provider: { code: "131000", message: "Something went wrong" }
    }
  },
  provider_unavailable: {
    when: "The provider could not be reached. Nothing was sent.",
    remedy: "Wait, and check the provider's status page.",
    retry: retries.backoff,
    example: {
      message: "the provider is not available at the moment",
      provider: { code: "131016", message: "Service unavailable" }
    }
  },
  overloaded: {
    when: "The service has as many requests in flight as it can handle, or it is shutting down.",
    remedy: "Send more slowly. If this persists, the operator should add processes.",
    retry: retries.waiting,
    example: { message: "too many sends are in flight; repeat the request with the same Idempotency-Key" }
  },
  storage_unavailable: {
    when: "The service's storage cannot be reached or cannot be written. The message says which.",
    remedy: "Wait. If this persists, the operator must check the database.",
    retry: retries.waiting,
    example: { message: "storage is not reachable at the moment" }
  },
  in_progress: {
    when:
      "Another request with this Idempotency-Key is in progress and did not finish within 10 seconds. Or the message to " +
      "be cancelled was enqueued in a transaction, and is being queued at the moment.",
    remedy: "Repeat the request: with the same key, it returns the response of the first request.",
    retry: retries.waiting,
    example: { message: "the same send is still running; repeat the request with the same Idempotency-Key" }
  },
  outcome_unknown: {
    when:
      "The provider may have accepted the message, but its response was lost. Or the message was to be sent later, " +
      "and the storage failed before it confirmed that the message is queued.",
    remedy:
      "Repeat the request with the same key, or an item of a batch in another batch with the item's key. Or wait for " +
      "`message.sent` or `message.failed`, unless the message was to be sent later: if it was not queued, there is no " +
      "event. Never use a new key: the customer could get the message twice.",
    retry:
      "Yes, with the same Idempotency-Key: the repeated request never sends twice, and returns the outcome once it is known.",
    example: {
      message: "the provider did not confirm whether it accepted the message, so the message is not sent again. " +
        "Repeat the request with the same Idempotency-Key to learn the outcome"
    }
  },
  delivery_unknown: {
    when:
      "The provider did not confirm within 10 minutes whether it accepted the message, so the message counts as failed.",
    remedy:
      "Decide which is worse for the customer: to miss the message, or to get it twice. A new key sends it again. " +
      "If a late report says that the message was sent, the events of that report have `corrects`.",
    retry: "No, unless the provider reports late.",
    example: { message: "the provider never confirmed whether it accepted the message; it was not sent again" }
  },
  body_already_parsed: {
    when: "The application that embeds the service read the request's body before handing the request over, so the " +
      "service could not check or use it.",
    remedy:
      "The application mounts the service before any body parser: in Express above `express.json()`, in Fastify " +
      "in an `onRequest` hook, elsewhere before anything that reads the request.",
    retry: "No, until the application is changed.",
    example: {
      message: "the request's body was read before it reached wac: mount wac before any body parser (Express: above " +
        "express.json(); Fastify: in an onRequest hook; node:http: before anything reads the request)"
    }
  }
}
