// Lookups in a filter of Guava's, by Guava, in a loop that the compiler of the JVM has seen before it is measured.
//   java -cp guava.jar GuavaLookup.java FILE KEYS ROUNDS
// Keys are long i * 0x9e3779b97f4a7c15; those with i below KEYS are in the filter. One line a round: ns a hit, ns a miss, how many were found.
import com.google.common.hash.BloomFilter;
import com.google.common.hash.Funnels;
import java.io.BufferedInputStream;
import java.io.FileInputStream;
import java.io.InputStream;

public class GuavaLookup {
  static int count(BloomFilter<Long> filter, long from, long to) {
    int found = 0;
    for (long i = from; i < to; i++) if (filter.mightContain(i * 0x9e3779b97f4a7c15L)) found++;
    return found;
  }

  public static void main(String[] args) throws Exception {
    BloomFilter<Long> filter;
    try (InputStream in = new BufferedInputStream(new FileInputStream(args[0]))) {
      filter = BloomFilter.readFrom(in, Funnels.longFunnel());
    }
    long keys = Long.parseLong(args[1]);
    int rounds = Integer.parseInt(args[2]);
    int warm = 0;
    for (int i = 0; i < 5; i++) warm += count(filter, 0, Math.min(keys, 200_000)) + count(filter, keys, keys + Math.min(keys, 200_000));
    if (warm == 0) throw new IllegalStateException("the filter is empty");
    for (int round = 0; round < rounds; round++) {
      long start = System.nanoTime();
      int hits = count(filter, 0, keys);
      long middle = System.nanoTime();
      int misses = count(filter, keys, 2 * keys);
      long end = System.nanoTime();
      System.out.println((middle - start) / (double) keys + " " + (end - middle) / (double) keys + " " + hits + " " + misses);
    }
  }
}
