"""Clusters."""

from lyceum.catalog.entry import Entry, Item

ENTRIES: tuple[Entry, ...] = (
    Entry(
        name="AgglomerativeClustering",
        task="clustering",
        about="A tree of all rows: the two closest clusters are merged, again and again.",
        cost="n² d; memory n d (single, ward) or n²/2",
        syllabus=("12.3",),
        space={
            "n_clusters": (2, 20, "linear"),
            "linkage": ["ward", "average", "complete"],
        },
        in_study="never",
    ),
    Entry(
        name="KMedoids",
        task="clustering",
        about="k rows that stand for the rest, under any distance; swaps until none helps.",
        cost="m² d for m = min(n, 6144) rows, then n·d·k",
        syllabus=("12.2",),
        space={"n_clusters": (2, 20, "linear")},
        in_study="never",
    ),
    Entry(
        name="DBSCAN",
        task="clustering",
        about="Regions of any shape where rows lie close together, at one density, and noise.",
        cost="about n log n·d where d <= 8, else n² d",
        syllabus=("12.3",),
        space={"eps": (0.05, 5.0, "log"), "min_samples": (2, 20, "linear")},
        in_study="never",
    ),
    Entry(
        name="HDBSCAN",
        task="clustering",
        about="Regions of any shape and of different densities, and noise: DBSCAN's hierarchy.",
        cost="about n log n·d where d <= 8, else n² d",
        syllabus=("12.3",),
        space={"min_cluster_size": (5, 100, "log"), "min_samples": (2, 20, "linear")},
        in_study="never",
    ),
    Entry(
        name="DivisiveClustering",
        task="clustering",
        about=(
            "From one cluster downwards: bisecting k-means, or splinter groups under any distance"
            " (DIANA)."
        ),
        cost="n·d·min(n, d) per division and n·d per pass; n² d for diana",
        syllabus=("12.3",),
        space={"n_clusters": (2, 20, "linear")},
        in_study="never",
    ),
    Entry(
        name="FuzzyCMeans",
        task="clustering",
        about="k-means in which every row belongs to every cluster, to some degree.",
        cost="n·d·k per pass",
        syllabus=("12.1",),
        space={"n_clusters": (2, 20, "linear"), "fuzziness": (1.1, 3.0, "linear")},
        in_study="never",
    ),
    Entry(
        name="ClusterFeatures",
        task="preparation",
        about="Clusters as further columns: distances to them, or a row's own as 0 and 1.",
        cost="that of the clusterer; n·d·k",
        syllabus=("12.6",),
        space={"kind": ["distances", "one_of_k"]},
        in_study="never",
    ),
    Entry(
        name="KMeans",
        task="clustering",
        about=(
            "Lloyd's algorithm: every row to its nearest center, every center to the mean of its"
            " rows."
        ),
        cost="n·d·k per pass",
        syllabus=("12.1",),
        space={"n_clusters": (2, 20, "linear")},
    ),
    Entry(
        name="ClusterLabels",
        task="classification",
        about="Cluster, then label: few labeled rows name the clusters of all.",
        cost="that of the clusterer, and one pass",
        syllabus=("12.6", "15.1"),
        space={"smoothing": (0.1, 10.0, "log")},
        in_study="never",
    ),
    Entry(
        name="ClusterClassifier",
        package="lyceum.ensemble",
        task="classification",
        about="A classifier per cluster, and one of all rows for small clusters.",
        cost="that of the clusterer, and of the classifier on all rows and on every cluster",
        syllabus=("12.6",),
        space={"min_rows": (10.0, 200.0, "log")},
        in_study="never",
    ),
)
ITEMS: tuple[Item, ...] = (
    *(
        Item(name, syllabus=("12.5",))
        for name in (
            "adjusted_mutual_info_score",
            "adjusted_rand_score",
            "agreement",
            "match_clusters",
            "choose_k",
            "davies_bouldin_score",
            "entropy",
            "judged_pairs",
            "mutual_info_score",
            "normalized_mutual_info_score",
            "pair_counts",
            "proximity",
            "purity",
            "silhouette",
            "sums_of_squares",
        )
    ),
    Item("Gower", ("10.1", "12.2", "12.3"), package="lyceum.distances"),
    Item("SquaredCorrelation", ("12.3",), package="lyceum.distances"),
    Item("segment_image", ("12.6",), package="lyceum.workflows"),
    Item("visual_words", ("12.6",), package="lyceum.workflows"),
)
