/**
 * All of WhatsApp in one layer: sending, Meta's webhooks, and the hourly check of the numbers.
 */
import type { Inbound, PhoneNumberStore, Provider, SenderCredentials, WorkspaceStore } from "@wac/core"
import { Layer } from "effect"
import type { Mac } from "effect/crypto"
import * as NumberHealth from "./NumberHealth.ts"
import type { WhatsAppConfig } from "./WhatsAppConfig.ts"
import * as WhatsAppProvider from "./WhatsAppProvider.ts"
import * as WhatsAppWebhook from "./WhatsAppWebhook.ts"

/** Provides the provider and its `ProviderWebhook`, and runs its background work until the scope closes. */
export const layer = (
  config: WhatsAppConfig & WhatsAppWebhook.Agreed
): Layer.Layer<
  Provider.Provider,
  never,
  | Inbound.Inbound
  | PhoneNumberStore.PhoneNumberStore
  | SenderCredentials.SenderCredentials
  | WorkspaceStore.WorkspaceStore
  | Mac.Mac
> =>
  Layer.mergeAll(
    WhatsAppProvider.layer(config),
    WhatsAppWebhook.layer(config),
    NumberHealth.layer(config)
  )
