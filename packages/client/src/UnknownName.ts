/**
 * A name that this version does not know: any other string, and to be used as one. To compare it with a newer name, widen
 * it: `const name: string = event.type`.
 *
 * An enumeration that exists in types only, since it is assignable to `string` and yet comparable to no literal: that is
 * what lets `event.type === "message.delivered"` leave that one event, where a plain `string` would stay beside it.
 */
export declare enum UnknownName {
  name = "a name newer than this version"
}
