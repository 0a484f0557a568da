/**
 * Has V8 make every object young. By default it learns where objects live long, and makes the next ones of that place
 * old from the start. What is made at a start lives as long as the process, and places that requests pass too were
 * learned with it. Then an old object keeps everything young that it refers to until the next major collection, and a
 * send cost Node up to twice the processor time (docs/decisions/0028-wac.md).
 *
 * Has to be evaluated before the modules whose objects it is about; `NODE_OPTIONS` does not take this option.
 */
import { setFlagsFromString } from "node:v8"

setFlagsFromString("--no-allocation-site-pretenuring")
