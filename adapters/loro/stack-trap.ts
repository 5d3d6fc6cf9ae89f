import * as loro from 'loro-crdt'

/** Moves Loro's own stack in the memory of its WebAssembly by some bytes, and tells where it is then. */
const { __wbindgen_add_to_stack_pointer: moved } = (
  loro as unknown as { readonly __wasm: { __wbindgen_add_to_stack_pointer(bytes: number): number } }
).__wasm

/**
 * Runs work in which bytes of another peer can end Loro half-way: it panics, or calls itself until no stack is left. That
 * is thrown on. Nothing takes down what Loro had on its stack then; some hundred such ends would leave no room, and no
 * document of the process could be read. So the stack is put back to its place. Never call it from a callback of Loro. The
 * document that Loro worked on is of no use afterwards.
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
