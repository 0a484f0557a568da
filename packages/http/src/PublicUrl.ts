/**
 * The address that people and providers use (contract §8 `PUBLIC_URL`).
 */
import { Context } from "effect"

export class PublicUrl extends Context.Service<PublicUrl, URL>()("@wac/http/PublicUrl") {}

/**
 * Whether somebody configured it. It then says alone which pages are our own; otherwise it is a guess, and the request's
 * own address is asked too.
 */
export const IsGiven = Context.Reference<boolean>("@wac/http/PublicUrl/IsGiven", { defaultValue: () => true })
