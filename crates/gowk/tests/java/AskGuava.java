// Loads a filter with Guava, answers keys, and writes the filter again.
//   java -cp guava.jar AskGuava.java FILE int|long|utf8|utf16 OUT < KEYS
// One key a line; prints 1 or 0 for each, then bitSize-independent facts: expectedFpp and approximateElementCount.
import com.google.common.hash.BloomFilter;
import com.google.common.hash.Funnel;
import com.google.common.hash.Funnels;
import java.io.*;
import java.nio.charset.StandardCharsets;
import java.nio.file.*;
import java.util.function.Function;

public class AskGuava {
  static <T> void ask(String[] args, Funnel<? super T> funnel, Function<String, T> parse) throws IOException {
    BloomFilter<T> filter;
    try (InputStream in = new BufferedInputStream(Files.newInputStream(Paths.get(args[0])))) {
      filter = BloomFilter.readFrom(in, (Funnel<T>) funnel);
    }
    BufferedReader keys = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    StringBuilder answers = new StringBuilder();
    for (String line; (line = keys.readLine()) != null; ) answers.append(filter.mightContain(parse.apply(line)) ? '1' : '0');
    System.out.println(answers);
    System.out.println(filter.expectedFpp());
    System.out.println(filter.approximateElementCount());
    try (OutputStream out = new BufferedOutputStream(Files.newOutputStream(Paths.get(args[2])))) {
      filter.writeTo(out);
    }
  }

  public static void main(String[] args) throws IOException {
    switch (args[1]) {
      case "int": ask(args, Funnels.integerFunnel(), Integer::valueOf); break;
      case "long": ask(args, Funnels.longFunnel(), Long::valueOf); break;
      case "utf8": ask(args, Funnels.stringFunnel(StandardCharsets.UTF_8), s -> s); break;
      case "utf16": ask(args, Funnels.unencodedCharsFunnel(), s -> s); break;
      default: throw new IllegalArgumentException(args[1]);
    }
  }
}
