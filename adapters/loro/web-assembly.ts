import { initSync } from 'loro-crdt/web'

/**
 * Starts Loro in a browser, where it is no part of the script. Call before anything else of Loro.
 *
 * @param module the compiled `loro_wasm_bg.wasm` of Loro's build for browsers
 */
export function startLoro(module: Exclude<Parameters<typeof initSync>[0], { readonly module: unknown }>): void {
  initSync({ module })
}
