/**
 * The client of the endpoints under `/internal`, for the dashboard's pages and for operators' programs. It calls in a
 * person's session, not with an API key. A browser keeps the session's cookie itself; elsewhere the client keeps it.
 */
import { addressOf } from "./Address.ts"
import type { CallOptions, TransportOptions } from "./CallOptions.ts"
import { badOption, WacError } from "./ClientError.ts"
import type { Event } from "./generated/Event.ts"
import type {
  AlertQuery,
  AuditQuery,
  CampaignTimelineQuery,
  ContactQuery,
  CustomerQuery,
  DeliveryQuery,
  InternalEventQuery,
  InternalMessageQuery,
  InternalRoutes,
  ReceiverQuery,
  RequestQuery,
  UploadQuery,
  UsageQuery
} from "./generated/InternalWire.ts"
import type * as Wire from "./generated/InternalWire.ts"
import * as Limits from "./generated/Limits.ts"
import type { CampaignRowQuery, ListQuery, SendMessage } from "./generated/Wire.ts"
import type { Answered } from "./LastResponse.ts"
import { type List, listOf } from "./List.ts"
import type { InternalPage, Page } from "./Page.ts"
import { type Result, transportOf } from "./Transport.ts"

export { WacError } from "./ClientError.ts"
export type * from "./generated/ErrorReasons.ts"
export type { Event, EventType, MessageFailure } from "./generated/Event.ts"
export type * from "./generated/InternalWire.ts"
export type { MessageStatus } from "./generated/MessageContents.ts"
export type { ErrorCode, ErrorReason, EventOf } from "./generated/Messaging.ts"
export type {
  CampaignCounts,
  CampaignOutcome,
  CampaignRowQuery,
  CampaignStatus,
  OptOutSource,
  PauseReason,
  QuietHours,
  SendMessage
} from "./generated/Wire.ts"
export type { Answered } from "./LastResponse.ts"
export type * from "./Page.ts"

/** The client's address, session and settings. */
export interface InternalClientOptions extends TransportOptions {
  /** The service's address, without `/internal`: `https://wac.example.com`, or `location.origin` in its pages. */
  readonly baseUrl: string | URL
  /** The session's cookie, `name=value`, if there is a session already; not needed in browsers. */
  readonly cookie?: string
  /** The id of the workspace whose portal is used, instead of a session of the dashboard. */
  readonly portal?: string
  /**
   * Returns the session that the program shows, or `undefined` if it shows none yet. The service then refuses calls
   * with 401 if the cookie has become a session of another workspace or person, for example by another tab of the same
   * browser. `session.get` is not refused: it returns the session of the cookie.
   */
  readonly shown?: () => Pick<Wire.Session, "userId" | "workspaceId"> | undefined
}

/** The options of changes. */
export interface CreateOptions extends CallOptions {
  /** 1 to 255 visible ASCII characters. Calls with the same key make one change. By default each call has a new key. */
  readonly idempotencyKey?: string
}

type InternalList<Item> = List<Item, InternalPage<Item>>

type Returned<Route extends keyof InternalRoutes> = Promise<Result<InternalRoutes[Route]>>

/** A file of recipients. */
export interface RecipientFile {
  readonly bytes: Blob
  readonly type: "application/x-ndjson" | "text/csv"
}

/**
 * Every call rejects with {@link WacError}, or the reason of its signal. A call that takes an Idempotency-Key is
 * repeated under it, so that a change (a rotation, a test, a resume, a replay) is made once. What must happen once and
 * has no key (signing in, a new password, an upload) is repeated only after a 429.
 */
export interface InternalClient {
  readonly session: {
    /** Signs in; the calls that follow are made in the session. */
    readonly signIn: (person: Wire.SignIn, options?: CallOptions) => Returned<"POST /internal/session">
    /** Ends a sign-in that failed with `second_factor_required`, by the error's `challenge` and a code or a passkey. */
    readonly endSignIn: (step: Wire.EndSignIn, options?: CallOptions) => Returned<"POST /internal/session/factor">
    /** The options with which a browser uses a passkey for `endSignIn`. */
    readonly requestPasskey: (
      step: Wire.RequestPasskey,
      options?: CallOptions
    ) => Returned<"POST /internal/session/factor/options">
    readonly get: (options?: CallOptions) => Returned<"GET /internal/session">
    readonly signOut: (options?: CallOptions) => Returned<"DELETE /internal/session">
    /** The method by which people sign in. */
    readonly method: (options?: CallOptions) => Returned<"GET /internal/sign-in">
    /** Creates the first workspace and its owner, and signs the owner in. */
    readonly setUp: (owner: Wire.SetUp, options?: CallOptions) => Returned<"POST /internal/setup">
  }
  readonly members: {
    /** All members, oldest first, and then the invitations that were not accepted yet. */
    readonly list: (query?: {}, options?: CallOptions) => InternalList<Wire.Member>
    /** The link is in this response only. */
    readonly invite: (person: Wire.InviteMember, options?: CreateOptions) => Returned<"POST /internal/members">
    readonly change: (
      id: string,
      member: Wire.ChangeMember,
      options?: CallOptions
    ) => Returned<"PATCH /internal/members/:id">
    /** Removes a member, or withdraws an invitation. */
    readonly remove: (id: string, options?: CallOptions) => Returned<"DELETE /internal/members/:id">
    /** Ends all sessions of a member. */
    readonly endSessions: (id: string, options?: CallOptions) => Returned<"DELETE /internal/members/:id/sessions">
    /** Removes the second factor of a member who has lost it. */
    readonly resetFactor: (id: string, options?: CallOptions) => Returned<"DELETE /internal/members/:id/factor">
    /** An invitation, by the token of its link. */
    readonly showInvitation: (
      invitation: Wire.ShowInvitation,
      options?: CallOptions
    ) => Returned<"POST /internal/invitations/show">
    /** Becomes a member, and signs in. */
    readonly accept: (
      invitation: Wire.AcceptInvitation,
      options?: CallOptions
    ) => Returned<"POST /internal/invitations/accept">
  }
  readonly portal: {
    /** Opens the portal by a host's link, for the client's `portal`. */
    readonly open: (link: Wire.OpenPortal, options?: CallOptions) => Returned<"POST /internal/portal">
  }
  readonly account: {
    readonly workspaces: (options?: CallOptions) => Returned<"GET /internal/workspaces">
    readonly switchWorkspace: (
      workspace: Wire.SwitchWorkspace,
      options?: CreateOptions
    ) => Returned<"POST /internal/session/workspace">
    /** Makes the session fresh for 10 minutes, as a sign-in does. */
    readonly confirmSession: (
      proof: Wire.ConfirmSession,
      options?: CallOptions
    ) => Returned<"POST /internal/session/confirm">
    readonly sessions: (options?: CallOptions) => Returned<"GET /internal/sessions">
    /** Ends all sessions of the person except the client's. */
    readonly endOtherSessions: (options?: CallOptions) => Returned<"DELETE /internal/sessions">
    readonly endSession: (id: string, options?: CallOptions) => Returned<"DELETE /internal/sessions/:id">
    /** Ends the person's other sessions. */
    readonly changePassword: (
      passwords: Wire.ChangePassword,
      options?: CallOptions
    ) => Returned<"PUT /internal/password">
    /** Whether the person's sign-ins need a second factor. */
    readonly factor: (options?: CallOptions) => Returned<"GET /internal/factor">
    /** Makes a secret for an authenticator app, which `confirmFactor` switches on. */
    readonly startFactor: (options?: CallOptions) => Returned<"PUT /internal/factor">
    readonly confirmFactor: (
      first: Wire.ConfirmFactor,
      options?: CallOptions
    ) => Returned<"POST /internal/factor/confirm">
    /** Makes new recovery codes, which replace all earlier ones. */
    readonly renewRecoveryCodes: (options?: CallOptions) => Returned<"PUT /internal/factor/recovery-codes">
    readonly removeFactor: (options?: CallOptions) => Returned<"DELETE /internal/factor">
    /** The options with which a browser makes a passkey for `addPasskey`. */
    readonly startPasskey: (options?: CallOptions) => Returned<"PUT /internal/factor/passkeys/options">
    readonly addPasskey: (
      passkey: Wire.AddPasskey,
      options?: CallOptions
    ) => Returned<"POST /internal/factor/passkeys">
    readonly removePasskey: (id: string, options?: CallOptions) => Returned<"DELETE /internal/factor/passkeys/:id">
    /** The options with which a browser uses a passkey for `confirmSession`. */
    readonly startConfirming: (options?: CallOptions) => Returned<"PUT /internal/session/confirm/options">
    readonly requestPasswordReset: (
      person: Wire.RequestPasswordReset,
      options?: CallOptions
    ) => Returned<"POST /internal/password/reset-request">
    readonly resetPassword: (
      reset: Wire.ResetPassword,
      options?: CallOptions
    ) => Returned<"POST /internal/password/reset">
  }
  readonly apiKeys: {
    /** Active keys, newest first. */
    readonly list: (query?: ListQuery, options?: CallOptions) => InternalList<Wire.ListedApiKey>
    readonly get: (id: string, options?: CallOptions) => Returned<"GET /internal/api-keys/:id">
    /** The secrets are in the first response only: if it was lost, revoke the key and create another. */
    readonly create: (key: Wire.CreateApiKey, options?: CreateOptions) => Returned<"POST /internal/api-keys">
    readonly revoke: (id: string, options?: CallOptions) => Returned<"DELETE /internal/api-keys/:id">
  }
  readonly webhook: {
    /** Fails with `not_found` before a webhook is set. */
    readonly get: (options?: CallOptions) => Returned<"GET /internal/webhook">
    /** How the receiver behaved over time. */
    readonly receiver: (query?: ReceiverQuery, options?: CallOptions) => Returned<"GET /internal/webhook/receiver">
    readonly put: (webhook: Wire.PutWebhook, options?: CallOptions) => Returned<"PUT /internal/webhook">
    readonly remove: (options?: CallOptions) => Returned<"DELETE /internal/webhook">
    readonly rotateSecret: (
      rotation?: Wire.RotateSecret,
      options?: CreateOptions
    ) => Returned<"POST /internal/webhook/rotate-secret">
    readonly test: (options?: CreateOptions) => Returned<"POST /internal/webhook/test">
    readonly pause: (options?: CreateOptions) => Returned<"POST /internal/webhook/pause">
    readonly resume: (resume?: Wire.ResumeWebhook, options?: CreateOptions) => Returned<"POST /internal/webhook/resume">
    readonly verify: (
      delivery: Wire.VerifyDelivery,
      options?: CreateOptions
    ) => Returned<"POST /internal/webhook/verify">
  }
  readonly deliveries: {
    /** Newest first. */
    readonly list: (query?: DeliveryQuery, options?: CallOptions) => InternalList<Wire.Delivery>
    readonly get: (id: string, options?: CallOptions) => Returned<"GET /internal/webhook/deliveries/:id">
    readonly retry: (id: string, options?: CreateOptions) => Returned<"POST /internal/webhook/deliveries/:id/retry">
  }
  readonly replays: {
    /** Newest first. */
    readonly list: (query?: ListQuery, options?: CallOptions) => InternalList<Wire.Replay>
    readonly get: (id: string, options?: CallOptions) => Returned<"GET /internal/webhook/replays/:id">
    readonly create: (replay: Wire.CreateReplay, options?: CreateOptions) => Returned<"POST /internal/webhook/replays">
    readonly cancel: (id: string, options?: CallOptions) => Returned<"DELETE /internal/webhook/replays/:id">
  }
  readonly campaigns: {
    /** Newest first. */
    readonly list: (query?: Wire.ShownCampaignQuery, options?: CallOptions) => InternalList<Wire.Campaign>
    readonly get: (id: string, options?: CallOptions) => Returned<"GET /internal/campaigns/:id">
    /** Why checked rows get no message, with the first rows of each problem. */
    readonly problems: (id: string, options?: CallOptions) => Returned<"GET /internal/campaigns/:id/problems">
    /** How many of its messages were sent, delivered and read when. */
    readonly timeline: (
      id: string,
      query?: CampaignTimelineQuery,
      options?: CallOptions
    ) => Returned<"GET /internal/campaigns/:id/timeline">
    readonly create: (campaign: Wire.CreateCampaign, options?: CreateOptions) => Returned<"POST /internal/campaigns">
    readonly edit: (
      id: string,
      change: Wire.EditCampaign,
      options?: CallOptions
    ) => Returned<"PATCH /internal/campaigns/:id">
    /** Only a campaign that was not started. */
    readonly remove: (id: string, options?: CallOptions) => Returned<"DELETE /internal/campaigns/:id">
    /**
     * Adds the recipients of a file, NDJSON or CSV with a header row, or replaces those that the campaign has. If the
     * file is refused, the campaign stays as it was. The timeout defaults to 30 minutes.
     */
    readonly upload: (
      id: string,
      file: RecipientFile,
      query?: UploadQuery,
      options?: CallOptions
    ) => Returned<"PUT /internal/campaigns/:id/recipients">
    /** Checks the recipients in the background. */
    readonly check: (id: string, options?: CreateOptions) => Returned<"POST /internal/campaigns/:id/check">
    readonly start: (id: string, options?: CreateOptions) => Returned<"POST /internal/campaigns/:id/start">
    readonly pause: (id: string, options?: CreateOptions) => Returned<"POST /internal/campaigns/:id/pause">
    readonly resume: (id: string, options?: CreateOptions) => Returned<"POST /internal/campaigns/:id/resume">
    readonly cancel: (id: string, options?: CreateOptions) => Returned<"POST /internal/campaigns/:id/cancel">
    /** The rows, in the order of their upload. */
    readonly recipients: (
      id: string,
      query?: CampaignRowQuery,
      options?: CallOptions
    ) => InternalList<Wire.CampaignRow>
    /** All rows as a CSV file for spreadsheets, or those of an outcome and a reason. */
    readonly rowsFile: (
      id: string,
      query?: Pick<CampaignRowQuery, "outcome" | "reason">,
      options?: CallOptions
    ) => Promise<Blob>
  }
  readonly events: {
    /** Newest first. */
    readonly list: (query?: InternalEventQuery, options?: CallOptions) => List<Event, Page<Event>>
    readonly get: (id: string, options?: CallOptions) => Returned<"GET /internal/events/:id">
  }
  readonly messages: {
    /** Sends a message once per idempotency key, even if the call is repeated. */
    readonly send: (message: SendMessage, options?: CreateOptions) => Returned<"POST /internal/messages">
    /** Cancels a queued message: once this has succeeded, it is never sent. */
    readonly cancel: (id: string, options?: CallOptions) => Returned<"DELETE /internal/messages/:id">
    /** Newest first. */
    readonly list: (query?: InternalMessageQuery, options?: CallOptions) => InternalList<Wire.ListedMessage>
    readonly get: (id: string, options?: CallOptions) => Returned<"GET /internal/messages/:id">
  }
  readonly queue: {
    /** Whether queued messages are held after a restore. */
    readonly get: (options?: CallOptions) => Returned<"GET /internal/queue">
    /** Lets held messages be sent. */
    readonly release: (options?: CreateOptions) => Returned<"POST /internal/queue/release">
  }
  readonly contacts: {
    /** The numbers of customers that were written to or wrote, by a part of the number. */
    readonly find: (query: CustomerQuery, options?: CallOptions) => Returned<"GET /internal/customers">
    /** In the order of their ids. */
    readonly list: (query?: ContactQuery, options?: CallOptions) => InternalList<Wire.Contact>
    readonly get: (id: string, options?: CallOptions) => Returned<"GET /internal/contacts/:id">
    /** The conversation with the customer in both directions, newest first. */
    readonly messages: (id: string, query?: ListQuery, options?: CallOptions) => InternalList<Wire.ConversationMessage>
    /** Opts a customer out for the contact's number. */
    readonly optOut: (id: string, options?: CallOptions) => Returned<"PUT /internal/contacts/:id/opt-out">
    /** Ends the opt-out for the contact's number. */
    readonly optIn: (id: string, options?: CallOptions) => Returned<"DELETE /internal/contacts/:id/opt-out">
  }
  readonly optOuts: {
    /** The words by which customers opt out. */
    readonly words: (options?: CallOptions) => Returned<"GET /internal/settings/opt-out">
    readonly setWords: (words: Wire.OptOutWords, options?: CallOptions) => Returned<"PUT /internal/settings/opt-out">
    /** All names that are opted out. */
    readonly export: (options?: CallOptions) => Returned<"GET /internal/suppressions">
    /** Opts out every name of a file, for all numbers. */
    readonly import: (
      file: RecipientFile,
      options?: CallOptions
    ) => Returned<"PUT /internal/suppressions">
  }
  readonly phoneNumbers: {
    /** Newest first. */
    readonly list: (query?: ListQuery, options?: CallOptions) => InternalList<Wire.PhoneNumber>
  }
  readonly templates: {
    /** Newest first. */
    readonly list: (query?: Wire.ShownTemplateQuery, options?: CallOptions) => InternalList<Wire.TemplateDetail>
    readonly get: (id: string, options?: CallOptions) => Returned<"GET /internal/templates/:id">
    /**
     * Creates a template at the provider, which reviews it. Repeated only after a 429: after any other failure, the
     * provider may have created it.
     */
    readonly create: (template: Wire.CreateTemplate, options?: CreateOptions) => Returned<"POST /internal/templates">
    /** Replaces the given parts. The provider reviews the template again. */
    readonly edit: (
      id: string,
      change: Wire.EditTemplate,
      options?: CallOptions
    ) => Returned<"PATCH /internal/templates/:id">
    /** Deletes this template only: those with the same name in other languages stay. */
    readonly remove: (id: string, options?: CallOptions) => Returned<"DELETE /internal/templates/:id">
    /** Updates the templates to the provider's current list. */
    readonly sync: (options?: CreateOptions) => Returned<"POST /internal/templates/sync">
  }
  readonly requests: {
    /** Newest first. Each page also has the numbers of all requests since its `since`, by reason. */
    readonly list: (query?: RequestQuery, options?: CallOptions) => List<Wire.ApiRequest, Wire.RequestPage>
    /** One request, with the shape of its body. */
    readonly get: (id: string, options?: CallOptions) => Returned<"GET /internal/requests/:id">
    /** The values of a request's body, if they are kept. Each call is recorded in the audit log. */
    readonly values: (id: string, options?: CallOptions) => Returned<"GET /internal/requests/:id/values">
    readonly valuesSettings: (options?: CallOptions) => Returned<"GET /internal/settings/request-values">
    readonly configureValues: (
      settings: Wire.RequestValuesChange,
      options?: CallOptions
    ) => Returned<"PUT /internal/settings/request-values">
  }
  readonly alerts: {
    /** Newest first. */
    readonly list: (query?: AlertQuery, options?: CallOptions) => InternalList<Wire.Alert>
    readonly settings: (options?: CallOptions) => Returned<"GET /internal/alerts/settings">
    readonly configure: (
      settings: Wire.AlertSettings,
      options?: CallOptions
    ) => Returned<"PUT /internal/alerts/settings">
  }
  readonly audit: {
    /** Newest first; changes before the page's `since` are deleted. */
    readonly list: (query?: AuditQuery, options?: CallOptions) => List<Wire.AuditEntry, Wire.AuditPage>
  }
  readonly usage: {
    readonly get: (query?: UsageQuery, options?: CallOptions) => Returned<"GET /internal/usage">
  }
}

const sessionCookie = /^((?:__Host-)?wac_session|__Host-wac_portal)=([^;]*)/

/** Makes a client. Throws a {@link WacError} for invalid options. */
export const createInternalClient = (options: InternalClientOptions): InternalClient => {
  const base = addressOf(options.baseUrl)
  if (base === undefined) throw badOption("baseUrl", "baseUrl must be the service's http or https address")
  let { cookie } = options

  const call = transportOf<InternalRoutes>(base, {
    // a browser sets `sec-fetch-site` and `cookie` itself and ignores these
    headersOf: async ({ method, target }) => {
      const page = method === "GET" && target.endsWith("/internal/session") ? undefined : options.shown?.()
      return {
        "sec-fetch-site": "same-origin",
        ...(cookie === undefined ? {} : { cookie }),
        ...(options.portal === undefined ? {} : { "wac-portal": options.portal }),
        ...(page === undefined
          ? {}
          : { "wac-session": [page.workspaceId, page.userId].map(encodeURIComponent).join(" ") })
      }
    },
    onHeaders: (headers) => {
      for (const each of headers.getSetCookie()) {
        const [pair, , value] = sessionCookie.exec(each) ?? []
        if (pair !== undefined) cookie = value === "" ? undefined : pair
      }
    }
  }, options)

  /** A change, under a key of its own unless one is given, so that repeating it after a lost response does no harm. */
  const keyed: typeof call = (route, values, options: CreateOptions = {}) => {
    const { idempotencyKey = crypto.randomUUID(), ...others } = options
    return call(route, { ...values, idempotencyKey }, others)
  }

  const list = <Item, Query extends ListQuery, Page extends InternalPage<Item> = InternalPage<Item>>(
    get: (query: Query | ListQuery | undefined, options: CallOptions | undefined) => Promise<Answered<Page>>
  ) =>
  (query?: Query, options?: CallOptions): List<Item, Page> =>
    listOf(
      (page) => get({ ...query, ...page }, options),
      ({ data, hasMore, nextCursor }) => ({ data, next: hasMore ? nextCursor : null })
    )

  return {
    session: {
      signIn: (body, options) => call("POST /internal/session", { body, once: true }, options),
      endSignIn: (body, options) => call("POST /internal/session/factor", { body, once: true }, options),
      requestPasskey: (body, options) => call("POST /internal/session/factor/options", { body }, options),
      get: (options) => call("GET /internal/session", {}, options),
      method: (options) => call("GET /internal/sign-in", {}, options),
      signOut: (options) => call("DELETE /internal/session", {}, options),
      setUp: (body, options) => call("POST /internal/setup", { body, once: true }, options)
    },
    members: {
      list: list((_query?: {}, options?) => call("GET /internal/members", {}, options)),
      invite: (body, options) => keyed("POST /internal/members", { body }, options),
      change: (id, body, options) => call("PATCH /internal/members/:id", { id, body }, options),
      remove: (id, options) => call("DELETE /internal/members/:id", { id }, options),
      endSessions: (id, options) => call("DELETE /internal/members/:id/sessions", { id }, options),
      resetFactor: (id, options) => call("DELETE /internal/members/:id/factor", { id }, options),
      showInvitation: (body, options) => call("POST /internal/invitations/show", { body, once: true }, options),
      accept: (body, options) => call("POST /internal/invitations/accept", { body, once: true }, options)
    },
    portal: {
      open: (body, options) => call("POST /internal/portal", { body, once: true }, options)
    },
    account: {
      workspaces: (options) => call("GET /internal/workspaces", {}, options),
      switchWorkspace: (body, options) => keyed("POST /internal/session/workspace", { body }, options),
      confirmSession: (body, options) => call("POST /internal/session/confirm", { body, once: true }, options),
      sessions: (options) => call("GET /internal/sessions", {}, options),
      endOtherSessions: (options) => call("DELETE /internal/sessions", {}, options),
      endSession: (id, options) => call("DELETE /internal/sessions/:id", { id }, options),
      changePassword: (body, options) => call("PUT /internal/password", { body, once: true }, options),
      factor: (options) => call("GET /internal/factor", {}, options),
      startFactor: (options) => call("PUT /internal/factor", {}, options),
      confirmFactor: (body, options) => call("POST /internal/factor/confirm", { body, once: true }, options),
      renewRecoveryCodes: (options) => call("PUT /internal/factor/recovery-codes", { once: true }, options),
      removeFactor: (options) => call("DELETE /internal/factor", {}, options),
      startPasskey: (options) => call("PUT /internal/factor/passkeys/options", {}, options),
      addPasskey: (body, options) => call("POST /internal/factor/passkeys", { body, once: true }, options),
      removePasskey: (id, options) => call("DELETE /internal/factor/passkeys/:id", { id }, options),
      startConfirming: (options) => call("PUT /internal/session/confirm/options", {}, options),
      requestPasswordReset: (body, options) =>
        call("POST /internal/password/reset-request", { body, once: true }, options),
      resetPassword: (body, options) => call("POST /internal/password/reset", { body, once: true }, options)
    },
    apiKeys: {
      list: list((query?: ListQuery, options?) => call("GET /internal/api-keys", { query }, options)),
      get: (id, options) => call("GET /internal/api-keys/:id", { id }, options),
      create: (body, options) => keyed("POST /internal/api-keys", { body }, options),
      revoke: (id, options) => call("DELETE /internal/api-keys/:id", { id }, options)
    },
    webhook: {
      get: (options) => call("GET /internal/webhook", {}, options),
      receiver: (query, options) => call("GET /internal/webhook/receiver", { query }, options),
      put: (body, options) => call("PUT /internal/webhook", { body }, options),
      remove: (options) => call("DELETE /internal/webhook", {}, options),
      rotateSecret: (body = {}, options) => keyed("POST /internal/webhook/rotate-secret", { body }, options),
      test: (options) => keyed("POST /internal/webhook/test", {}, options),
      pause: (options) => keyed("POST /internal/webhook/pause", {}, options),
      resume: (body = {}, options) => keyed("POST /internal/webhook/resume", { body }, options),
      verify: (body, options) => keyed("POST /internal/webhook/verify", { body }, options)
    },
    deliveries: {
      list: list((query?: DeliveryQuery, options?) => call("GET /internal/webhook/deliveries", { query }, options)),
      get: (id, options) => call("GET /internal/webhook/deliveries/:id", { id }, options),
      retry: (id, options) => keyed("POST /internal/webhook/deliveries/:id/retry", { id }, options)
    },
    replays: {
      list: list((query?: ListQuery, options?) => call("GET /internal/webhook/replays", { query }, options)),
      get: (id, options) => call("GET /internal/webhook/replays/:id", { id }, options),
      create: (body, options) => keyed("POST /internal/webhook/replays", { body }, options),
      cancel: (id, options) => call("DELETE /internal/webhook/replays/:id", { id }, options)
    },
    campaigns: {
      list: list((query?: Wire.ShownCampaignQuery, options?) => call("GET /internal/campaigns", { query }, options)),
      get: (id, options) => call("GET /internal/campaigns/:id", { id }, options),
      problems: (id, options) => call("GET /internal/campaigns/:id/problems", { id }, options),
      timeline: (id, query, options) => call("GET /internal/campaigns/:id/timeline", { id, query }, options),
      create: (body, options) => keyed("POST /internal/campaigns", { body }, options),
      edit: (id, body, options) => call("PATCH /internal/campaigns/:id", { id, body }, options),
      remove: (id, options) => call("DELETE /internal/campaigns/:id", { id }, options),
      upload: (id, { bytes, type }, query, { timeout = Limits.uploadTimeout, ...options } = {}) =>
        call("PUT /internal/campaigns/:id/recipients", { id, query, content: { bytes, type }, once: true }, {
          ...options,
          timeout
        }),
      check: (id, options) => keyed("POST /internal/campaigns/:id/check", { id }, options),
      start: (id, options) => keyed("POST /internal/campaigns/:id/start", { id }, options),
      pause: (id, options) => keyed("POST /internal/campaigns/:id/pause", { id }, options),
      resume: (id, options) => keyed("POST /internal/campaigns/:id/resume", { id }, options),
      cancel: (id, options) => keyed("POST /internal/campaigns/:id/cancel", { id }, options),
      recipients: (id, query, options) =>
        list<Wire.CampaignRow, CampaignRowQuery>((query, options) =>
          call("GET /internal/campaigns/:id/recipients", { id, query }, options)
        )(query, options),
      rowsFile: async (id, query, options) => {
        let response: globalThis.Response | undefined
        await call("GET /internal/campaigns/:id/recipients", {
          id,
          query,
          headers: { accept: "text/csv" },
          opened: (opened) => void (response = opened)
        }, options)
        return response!.blob().catch((cause: unknown) => {
          throw new WacError("the file broke off", { code: "no_response", reason: "unreachable" }, cause)
        })
      }
    },
    events: {
      list: (query, options) =>
        listOf(
          (page) => call("GET /internal/events", { query: { ...query, ...page } }, options),
          ({ data, has_more, next_cursor }) => ({ data, next: has_more ? next_cursor : null })
        ),
      get: (id, options) => call("GET /internal/events/:id", { id }, options)
    },
    messages: {
      send: (body, options) => keyed("POST /internal/messages", { body }, options),
      cancel: (id, options) => call("DELETE /internal/messages/:id", { id }, options),
      list: list((query?: InternalMessageQuery, options?) => call("GET /internal/messages", { query }, options)),
      get: (id, options) => call("GET /internal/messages/:id", { id }, options)
    },
    queue: {
      get: (options) => call("GET /internal/queue", {}, options),
      release: (options) => keyed("POST /internal/queue/release", {}, options)
    },
    contacts: {
      find: (query, options) => call("GET /internal/customers", { query }, options),
      list: list((query?: ContactQuery, options?) => call("GET /internal/contacts", { query }, options)),
      get: (id, options) => call("GET /internal/contacts/:id", { id }, options),
      messages: (id, query, options) =>
        list<Wire.ConversationMessage, ListQuery>((query, options) =>
          call("GET /internal/contacts/:id/messages", { id, query }, options)
        )(query, options),
      optOut: (id, options) => call("PUT /internal/contacts/:id/opt-out", { id }, options),
      optIn: (id, options) => call("DELETE /internal/contacts/:id/opt-out", { id }, options)
    },
    optOuts: {
      words: (options) => call("GET /internal/settings/opt-out", {}, options),
      setWords: (body, options) => call("PUT /internal/settings/opt-out", { body }, options),
      export: (options) => call("GET /internal/suppressions", {}, options),
      import: ({ bytes, type }, { timeout = Limits.uploadTimeout, ...options } = {}) =>
        call("PUT /internal/suppressions", { content: { bytes, type } }, { ...options, timeout })
    },
    phoneNumbers: {
      list: list((query?: ListQuery, options?) => call("GET /internal/phone-numbers", { query }, options))
    },
    templates: {
      list: list((query?: Wire.ShownTemplateQuery, options?) => call("GET /internal/templates", { query }, options)),
      get: (id, options) => call("GET /internal/templates/:id", { id }, options),
      create: (body, options) => keyed("POST /internal/templates", { body, once: true }, options),
      edit: (id, body, options) => call("PATCH /internal/templates/:id", { id, body, once: true }, options),
      remove: (id, options) => call("DELETE /internal/templates/:id", { id }, options),
      sync: (options) => keyed("POST /internal/templates/sync", {}, options)
    },
    requests: {
      list: list((query?: RequestQuery, options?) => call("GET /internal/requests", { query }, options)),
      get: (id, options) => call("GET /internal/requests/:id", { id }, options),
      values: (id, options) => call("GET /internal/requests/:id/values", { id }, options),
      valuesSettings: (options) => call("GET /internal/settings/request-values", {}, options),
      configureValues: (body, options) => call("PUT /internal/settings/request-values", { body }, options)
    },
    alerts: {
      list: list((query?: AlertQuery, options?) => call("GET /internal/alerts", { query }, options)),
      settings: (options) => call("GET /internal/alerts/settings", {}, options),
      configure: (body, options) => call("PUT /internal/alerts/settings", { body }, options)
    },
    audit: {
      list: list((query?: AuditQuery, options?) => call("GET /internal/audit", { query }, options))
    },
    usage: {
      get: (query, options) => call("GET /internal/usage", { query }, options)
    }
  }
}
