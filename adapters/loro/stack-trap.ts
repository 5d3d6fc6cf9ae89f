import * as loro from 'loro-crdt'

/** Moves the stack pointer in the memory of Loro's WebAssembly by some bytes, and returns its new value. */
const { __wbindgen_add_to_stack_pointer: moved } = (
  loro as unknown as { readonly __wasm: { __wbindgen_add_to_stack_pointer(bytes: number): number } }
).__wasm

/**
 * Runs work in which bytes of another peer can make Loro panic or overflow its stack, and rethrows the error. Loro does
 * not unwind its stack after a panic. After some hundred panics the stack would be full, and the process could read no
 * document. This function therefore restores the stack pointer. Never call it from a callback of Loro. Discard the
 * document that Loro worked on.
 *
 * Loro does not export the stack pointer. Another version of wasm-bindgen, which names this function, breaks the access.
 * test/adapters/documents/forged-update.test.ts notices that, and a stack that is not restored.
 */
export function trapping<T>(work: () => T): T {
  const place = moved(0)
  try {
    return work()
  } catch (error) {
    moved(place - moved(0))
    throw error
  }
}
