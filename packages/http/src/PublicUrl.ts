/**
 * The address that people and providers use (contract §8 `PUBLIC_URL`).
 */
import { Context } from "effect"

/** The public address of the service; a guess if {@link IsGiven} is false. */
export class PublicUrl extends Context.Service<PublicUrl, URL>()("@wac/http/PublicUrl") {}

/**
 * Whether the address is configured. If it is, only its pages count as our own. Otherwise it is a guess, and pages at
 * the request's own address also count.
 */
export const IsGiven = Context.Reference<boolean>("@wac/http/PublicUrl/IsGiven", { defaultValue: () => true })
