/** Maps with at most `width` at a time, keeping the order. */
export async function inParallel<A, B>(
  items: readonly A[],
  width: number,
  map: (item: A) => Promise<B>,
): Promise<B[]> {
  const results: B[] = []
  let next = 0
  const worker = async () => {
    while (next < items.length) {
      const index = next++
      const item = items[index]
      if (item !== undefined) results[index] = await map(item)
    }
  }
  await Promise.all(Array.from({ length: width }, worker))
  return results
}
